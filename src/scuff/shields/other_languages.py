"""The most frequent words of other languages that are written in Latin letters: what a text that is not English is full of."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..text.language import WORDS
from ..text.ragged import Bits, Ragged
from .hashes import word_bits

# What the longer lists of `text.language` lack: its languages have more words here, which short sentences need.
MORE = {
    "de": "die der das den des ich du er wir ihr mich mir dich dir habe hat hatte bin bist war wo was wer warum heute "
    "morgen gestern gut bitte danke ja nein im am um so da hier immer mehr kann muss will meine deine seine unser "
    "viel alle jetzt wieder es zu",
    "fr": "la de du un en ai as suis tu on sur par y mon ma mes ton ta votre notre nos bien merci bonjour fait faire avoir "
    "aujourd'hui hier demain ici quand sans chez trop encore aussi peut toujours jamais j'ai n'est l'on si ou même "
    "c'était à",
    "es": "de la un se no es al mi tu su yo te me le si sí o son han ha he era muchas gracias hoy ayer mañana bien muy "
    "mucho aquí donde dónde cómo estoy tengo puede nada sobre hasta desde entre mejor siempre nunca a",
    "it": "la le un di e in da si mi ti ci ho hai sei io tu lui lei noi molto bene grazie oggi ieri domani dove come quando "
    "perché sempre mai ancora dal al dalla tutto tutti cosa fatto mio mia suo sua i a",
    "pt": "o a os as de e eu tu se no nos por mas meu minha muito bem obrigado obrigada hoje ontem amanhã aqui onde como "
    "quando porque sempre nunca já ainda tem ter estou tenho vai todo tudo este esta esse essa nem ou à é",
    "nl": "de het en in is op te dat die hem haar ze we je mijn jouw wat waar wie hoe dit daar hier heb hebben ben bent was "
    "om als goed veel nu dan dank gisteren vandaag morgen zo al door over onze nooit altijd kunnen moet",
    "pl": "i w z do to co gdzie kto jestem mam mnie mi ty on ona my wy ich po za bardzo dziś wczoraj jutro dobrze dziękuję "
    "ten ta te tego kiedy tu tam bo ma być będzie nas od ze we",
    "cs": "a v s z do to co kde kdo jsem máme mě mi ty on ona my po za velmi dnes včera zítra dobře děkuji ten ta kdy tu "
    "tam mám si je na i o u k by než více",
    "sv": "en i om var vi du mig min mitt mycket bra tack idag igår imorgon hur vad varför alltid aldrig här nu så de dem "
    "sig ska skulle kommer för med utan eller mot",
    "da": "en et i om var vi du mig min mit meget godt tak dag går morgen hvordan hvad hvorfor altid aldrig her nu så de "
    "dem sig skal ville kommer for med uden eller mod den der hvem",
    "no": "og det er på ikke som jeg av har fra men ved når kan han hun etter hvor også en et i om var vi du meg min mitt "
    "veldig bra takk dag går hvordan hva hvorfor alltid aldri her nå så de seg skal kommer for med uten eller til å",
    "tr": "ben sen biz siz o şu mı mu mü ne nerede nasıl neden bugün dün yarın var yok iyi güzel en de da ki her şey benim "
    "senin teşekkürler evet hayır şimdi hep hiç",
    "ro": "a de un o în la eu tu el ea noi voi mi îmi te ne se foarte bine azi ieri mâine unde cum când ce cine am ai are "
    "avem mulțumesc dar și să fi era mult toate meu mea",
    "fi": "on en olen minä sinä se me te he mitä missä kuka miksi tänään eilen huomenna hyvä hyvin kiitos kanssa mukaan "
    "kuin jos nyt paljon minun sinun mun sun sitä tämä tuo vain vielä oikein",
    "hu": "a és is ki mi hol mit én te ő ti ma tegnap holnap jó nagyon köszönöm itt ott most de ha nincs lesz vagyok vannak "
    "nekem egész után",
    "id": "di ke dari yang kami kita anda dia mereka apa siapa mana kapan sudah belum sangat sekali hari kemarin besok "
    "terima kasih bisa ingin lebih karena seperti adalah oleh atau jika banyak aku kamu telah sebuah boleh",
    "ca": "el la els les de del i que en un una per amb no és són més però molt avui ahir demà com quan on aquest aquesta "
    "jo tu meu meva gràcies ha he estic tinc va als al si",
    "gl": "o a os as do da dos das un unha e en que non con para por moi hoxe onte mañá ben como cando onde este esta eu ti "
    "meu miña grazas é son foi ao na no máis",
    "eu": "eta da ez bat du dut dira ere hau hori zen dago baina oso gaur atzo bihar eskerrik asko nire zure non nola zer "
    "gara naiz dugu izan egin behar",
    "sk": "a v s z na do je sa nie že čo kde kto som mám ma mi ty on ona my po za veľmi dnes včera zajtra dobre ďakujem ten "
    "tá kedy tu tam si ako ale pre pri od bol bola sú už",
    "sl": "in je v na za se da ne ki so bi z s po pa kot tudi ali kje kdo sem si smo ste zelo danes včeraj jutri dobro "
    "hvala ta to kako kdaj moj moja imam nič od do pri",
    "hr": "i je u na za se da ne što koji su bi s po pa kao ili gdje gde tko ko sam si smo ste vrlo jako danas jučer juče "
    "sutra dobro hvala ta to kako kada moj moja imam ništa od do pri nije ali",
    "sq": "dhe në e të i një për me nga është nuk që ka kam unë ti ai ajo ne ju shumë mirë sot dje nesër ku si kur çfarë "
    "pse faleminderit por janë jam më u do kjo ky",
    "lt": "ir yra į kad ne su iš o bet tai aš tu jis ji mes jūs labai gerai šiandien vakar rytoj kur kaip kada kas ačiū "
    "buvo per už nuo ar dar tik mano tavo man po nėra",
    "lv": "un ir uz ka ne ar no bet tas es tu viņš viņa mēs jūs ļoti labi šodien vakar rīt kur kā kad kas paldies bija par "
    "vai vēl tikai mans man pie nav ja šis šī",
    "et": "ja on ei et see ma sa ta me te nad mis kus kes kuidas miks väga hästi täna eile homme aitäh oli kui aga ka oma "
    "mul sul siis olen pole ning juba minu sinu veel seda",
    "is": "og er að í á ekki sem ég þú hann hún við þið það var með til fyrir frá mjög vel dag gær morgun hvar hvernig hvað "
    "takk en um eru hefur þetta minn mín mér",
    "ga": "agus an na is tá ar i le go ní níl sé sí mé tú siad bhí an-mhaith inniu inné amárach cá conas cad raibh maith "
    "agat do mo as seo sin leis ag don chun",
    "cy": "y yr a yn mae i o ar gan nid ddim dwi rwy ti fe hi ni chi nhw da iawn heddiw ddoe yfory ble sut beth diolch wedi "
    "am wrth bod ei fy eich oedd hefyd",
    "mt": "il u ta li fi ma hu hija jien int aħna intom huma tajjeb ħafna illum ilbieraħ għada fejn kif xi meta grazzi kien "
    "għal mill din dan hemm mhux biex",
    "af": "die en is van nie ek jy hy sy ons julle hulle het in op te dit dat wat waar hoe met vir aan om baie goed vandag "
    "gister môre dankie my jou sal kan moet ook maar as by",
    "lb": "an de dat ass net ech du hien si mir dir eng en ze op fir mat vun wéi wou wat haut gëschter muer gutt ganz merci "
    "och awer hunn sinn war den dem",
    "vi": "và là của có không một những cho với được này người trong tôi bạn anh chị em đã đang sẽ rất hôm nay ngày mai ở "
    "đâu khi như cảm ơn nhiều các đi đến làm gì từ cũng thì mà ra vào lại rồi",
    "tl": "ang ng sa na ay mga at si ko mo ka ako ikaw siya kami tayo kayo sila hindi ito iyan ano saan kailan paano bakit "
    "napaka salamat po maganda ngayon kahapon bukas may wala lang din rin para kung",
    "sw": "na ya wa kwa ni za la katika hii hiyo mimi wewe yeye sisi ninyi wao sana nzuri leo jana kesho wapi vipi nini "
    "asante kuwa lakini hapana ndiyo yangu yako yake cha vya ambayo kama watu huu hili",
    "zu": "ukuthi futhi kodwa mina wena yena thina kakhulu namuhla izolo kusasa kuphi kanjani ngiyabonga yebo cha ngoba "
    "manje uma lapho nge kwa wami yami ngi khona",
    "yo": "ni ti ko si mo o a wa won ati fun pe mi re rẹ ní tí kò sí wọn náà kí bí gbogbo mọ dára ọjọ́ lónìí ọ̀la níbo jẹ́",
    "ha": "da na ta ya ne ce a ba shi su mu ku ina kuma amma yau jiya gobe sosai nagode mai wannan wata don zuwa daga cikin "
    "yana suna",
    "so": "iyo waa ka ku oo u ah ma la waxaa ayaa uu in aan aad soo wuu way maanta shalay berri fiican mahadsanid halkee "
    "sidee maxay badan",
    "az": "və bir bu üçün çox ilə amma kimi daha sonra deyil olan nə mən sən biz siz o bugün dünən sabah var yox yaxşı də "
    "da ki hər harada necə təşəkkür",
    "uz": "va bir bu uchun juda bilan lekin kabi keyin emas men sen biz siz u bugun kecha ertaga bor yo'q yaxshi ham har "
    "qayerda qanday rahmat edi kerak mening",
    "eo": "la kaj de estas en ne mi vi li ŝi ni ili al por kun sed tre bone hodiaŭ hieraŭ morgaŭ kie kiel kio kiam dankon "
    "ĉi tiu estis mia via jes aŭ pli oni",
    "la": "et in est non ad ut cum sed per quod qui quae ex ab sunt esse si nec lorem ipsum dolor sit amet consectetur "
    "adipiscing elit aut enim hoc haec id quam omnia ego tu te me nunc",
    "ht": "mwen ou li nou yo se pa nan ak pou yon ki sa te ap gen jodi a yè demen kote kijan kisa mèsi anpil byen men tout "
    "fè ale",
    "ku": "û di de ku ji li bi ez tu ew em hûn ne jî ev pir baş îro duh sibe kû çawa çi spas heye min te wî bû ye",
    "mg": "ny sy dia ary fa tsy aho ianao izy isika izany ity eto aiza inona misaotra androany omaly rahampitso tsara be "
    "mba ho no tamin amin misy",
    "mi": "te ngā nga ko he ki i o me e au koe ia tātou kei hea aha pai tino rā whare kia ora tēnei tēnā kua ana mō nō mai",
    "hi": "hai hain mein main ka ki ke ko se aur nahi nahin kya kyun kaise kahan yeh ye woh wo bahut accha aaj kal tum aap "
    "hum mera meri tha thi raha rahe kar liye bhi par",
}  # fmt: skip


def lists() -> dict[str, set[str]]:
    """The words of each language: those listed here, and those that are looked at in longer texts."""
    codes = dict.fromkeys([*MORE, *(code for code in WORDS if code != "en")])
    return {code: {*MORE.get(code, "").split(), *WORDS.get(code, "").split()} for code in codes}


@cache
def spoken() -> tuple[Bits, Bits]:
    """Hashes of all words, sorted, and the languages that have each, as bits. Single letters do not count."""
    found: dict[str, int] = {}
    for bit, words in enumerate(lists().values()):
        for word in words:
            if len(word) > 1 or not word.isascii():
                found[word] = found.get(word, 0) | 1 << bit
    keys = word_bits(Ragged.of(list(found)))
    order = np.argsort(keys)
    return keys[order], np.array(list(found.values()), np.uint64)[order]


def languages_of(keys: Bits) -> Bits:
    """The languages (as bits) in which the words with these hashes are frequent."""
    words, bits = spoken()
    at = np.minimum(np.searchsorted(words, keys), words.size - 1)
    return np.where(words[at] == keys, bits[at], np.uint64(0))
