"""Sentences reworded by rules: an example of each rule, sentences that it must leave alone, and what holds for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.english.rewording import RULES, rewordings
from scuff.english.tagger import tagged
from scuff.perturbations.syntax import Syntax
from scuff.text.corpus import Corpus
from scuff.text.random import Rng
from strategies import seed, text, texts

CHANGED = [
    # as people write
    ("contraction", "I do not know him.", "I don't know him."),
    ("contraction", "It is a fine day.", "It's a fine day."),
    ("contraction", "They have seen it.", "They've seen it."),
    ("contraction", "She will come.", "She'll come."),
    ("contraction", "A film that is funny.", "A film that's funny."),
    ("expansion", "It's a fine day.", "It is a fine day."),
    ("expansion", "You can't go there.", "You cannot go there."),
    ("expansion", "She hasn't left.", "She has not left."),
    ("expansion", "It's been fun.", "It has been fun."),
    ("expansion", "DON'T go.", "DO NOT go."),
    ("coordination", "The film is sweet and playful.", "The film is playful and sweet."),
    ("coordination", "He likes apples and oranges.", "He likes oranges and apples."),
    ("coordination", "It has a fine cast and a smart script.", "It has a smart script and a fine cast."),
    ("coordination", "France and Germany signed the treaty.", "Germany and France signed the treaty."),
    ("coordination", "It suffers from bad jokes and clumsy cuts.", "It suffers from clumsy cuts and bad jokes."),
    ("commas", "It is a sweet, playful film.", "It is a playful, sweet film."),
    ("and_comma", "It is a sweet, playful film.", "It is a sweet and playful film."),
    ("and_comma", "It is a sweet and playful film.", "It is a sweet, playful film."),
    ("both", "The film is sweet and playful.", "The film is both sweet and playful."),
    ("both", "The film is both sweet and playful.", "The film is sweet and playful."),
    ("alike", "The script is smart and the cast is fine.", "The cast is fine and the script is smart."),
    ("to_front", "She left in the morning.", "In the morning, she left."),
    ("to_front", "The company on Monday announced a deal.", "On Monday, the company announced a deal."),
    ("to_front", "I saw them last week.", "Last week, I saw them."),
    ("to_front", "Anna met the board Monday.", "On Monday, Anna met the board."),
    ("to_end", "In the morning, she left.", "She left in the morning."),
    ("to_end", "Last year, Anna moved.", "Anna moved last year."),
    ("comment", "Unfortunately, the plan failed.", "The plan failed, unfortunately."),
    ("source", "Prices rose, according to the bank.", "According to the bank, prices rose."),
    ("adverb", "It ultimately failed.", "Ultimately, it failed."),
    ("clause_order", "I stayed because it rained.", "Because it rained, I stayed."),
    ("clause_order", "Prices rose as supply fell.", "As supply fell, prices rose."),
    ("clause_order_back", "If you like jazz, you will love this record.", "You will love this record if you like jazz."),
    ("clause_order_back", "Although it was late, they went on.", "They went on, although it was late."),
    ("but", "It is slow, but it is fun.", "Although it is slow, it is fun."),
    ("although", "Although it was late, they went on.", "It was late, but they went on."),
    ("apposition", "Anna, who is a doctor, left.", "Anna, a doctor, left."),
    ("reduced", "A film that was made by them won.", "A film made by them won."),
    ("relative_pronoun", "It is a film that works.", "It is a film which works."),
    ("relative_pronoun", "There are people that agree.", "There are people who agree."),
    ("where", "It is a film in which he sings.", "It is a film where he sings."),
    ("where", "It is a film where he sings.", "It is a film in which he sings."),
    ("without_that", "The book that I read is long.", "The book I read is long."),
    ("without_that", "She says that he knows it.", "She says he knows it."),
    ("with_that", "She says he knows it.", "She says that he knows it."),
    ("with_relative", "He is the man I saw.", "He is the man that I saw."),
    ("so_that", "It is so dull, it hurts.", "It is so dull that it hurts."),
    ("what_cleft", "The film lacks depth.", "What the film lacks is depth."),
    ("it_cleft", "The cast saves the film.", "It is the cast that saves the film."),
    ("time_cleft", "Anna left on Monday.", "It was on Monday that Anna left."),
    ("what_is", "What it lacks is depth.", "Depth is what it lacks."),
    ("what_they_do", "Anna wrote a book.", "What Anna did was write a book."),
    ("predicate_first", "Adversarial attacks are harmless.", "Harmless is what adversarial attacks are."),
    ("predicate_first", "The script is a gem.", "A gem is what the script is."),
    ("inversion", "The fox jumps over the dog.", "Over the dog jumps the fox."),
    ("equation", "The real star is the script.", "The script is the real star."),
    ("to_do", "It is rare to see such films.", "To see such films is rare."),
    ("there_is", "A man is in the garden.", "There is a man in the garden."),
    ("there_is", "The film has many flaws.", "There are many flaws in the film."),
    ("with_there", "Many people agree.", "There are many people who agree."),
    ("without_there", "There are many people who agree.", "Many people agree."),
    ("fragment", "A fine film.", "It's a fine film."),
    ("after_subject", "With its fine cast, the film works.", "The film, with its fine cast, works."),
    ("before_subject", "The film, with its fine cast, was a success.", "With its fine cast, the film was a success."),
    ("join", "It is slow, and the plot is thin.", "It is slow; the plot is thin."),
    ("join", "It is slow, but the plot is good.", "It is slow; however, the plot is good."),
    ("genitive", "The film's flaws are obvious.", "The flaws of the film are obvious."),
    ("genitive", "Anna's book is good.", "The book by Anna is good."),
    ("possessive", "I saw the flaws of the film.", "I saw the film's flaws."),
    ("auxiliary", "The plot is often thin.", "The plot often is thin."),
    ("particle", "She picked up the phone.", "She picked the phone up."),
    ("dative", "He gave her a book.", "He gave a book to her."),
    ("dative", "He gave a book to her.", "He gave her a book."),
    ("hard_to", "It is hard to resist the film.", "The film is hard to resist."),
    ("hard_to", "The film is hard to resist.", "It is hard to resist the film."),
    ("infinitive", "She came in order to help.", "She came to help."),
    ("infinitive", "It helps to know him.", "It helps know him."),
    ("all_of", "All the actors are good.", "All of the actors are good."),
    ("all_of", "All of the actors are good.", "All the actors are good."),
    ("not_any", "There is no hope.", "There isn't any hope."),
    ("not_any", "He has no money.", "He doesn't have any money."),
    ("on_day", "They said Monday.", "They said on Monday."),
    ("emphatic", "He does have a heart.", "He has a heart."),
    ("seems", "It seems good.", "It seems to be good."),
    ("seems", "It seems to be good.", "It seems good."),
    ("begins", "It begins to rain.", "It begins raining."),
    ("begins", "He starts running.", "He starts to run."),
    ("participle", "He likes films featuring dogs.", "He likes films that feature dogs."),
    ("set_off", "It works, with a fine cast.", "With a fine cast, it works."),
    ("inside", "It is, in many ways, a success.", "In many ways, it is a success."),
    ("and_verb", "The wall collapsed, killing ten people.", "The wall collapsed and killed ten people."),
    ("also", "The film is also funny.", "The film is funny, too."),
    ("manner", "He quickly opened the door.", "He opened the door quickly."),
    ("manner", "He opened the door quickly.", "He quickly opened the door."),
    ("said_first", "It rained, officials said on Monday.", "Officials said on Monday that it rained."),
    ("said_last", "He said that the bridge was old.", "The bridge was old, he said."),
    ("passive", "The soldiers destroyed the bridge.", "The bridge was destroyed by the soldiers."),
    ("passive", "The film moved me.", "I was moved by the film."),
    ("passive", "The owners will sell the house.", "The house will be sold by the owners."),
    ("passive", "The owners have sold the houses.", "The houses have been sold by the owners."),
    ("active", "The bridge was destroyed by the soldiers.", "The soldiers destroyed the bridge."),
    ("active", "She was praised by the critics.", "The critics praised her."),
    ("active", "The house will be sold by the owners.", "The owners will sell the house."),
    # as treebanks write: lower case, tokens apart
    ("contraction", "i do not know him .", "i do n't know him ."),
    ("expansion", "it 's a fine day .", "it is a fine day ."),
    ("to_front", "she left in the morning .", "in the morning , she left ."),
    ("clause_order", "i stayed because it rained .", "because it rained , i stayed ."),
    ("but", "it is slow , but it is fun .", "although it is slow , it is fun ."),
    ("join", "it is slow , but the plot is good .", "it is slow ; however , the plot is good ."),
    ("fragment", "a fine film .", "it 's a fine film ."),
    ("fragment", "lacks any real depth .", "it lacks any real depth ."),
    ("possessive", "i saw the flaws of the film .", "i saw the film 's flaws ."),
    ("fragment", "perhaps the best film of the year .", "it 's perhaps the best film of the year ."),
    ("fragment", "not a bad film .", "it 's not a bad film ."),
    ("fragment", "too dull to enjoy .", "it 's too dull to enjoy ."),
    ("not_any", "there 's no hope .", "there is n't any hope ."),
    ("commas", "a warm , funny film .", "a funny , warm film ."),
    # adjectives and participles behind their noun
    ("relative", "It is a smart, moving film.", "It is a film that is smart and moving."),
    ("relative", "It is an odd film.", "It is a film that is odd."),
    ("relative", "It was a boring game.", "It was a game that was boring."),
    ("relative", "She likes clever songs.", "She likes songs that are clever."),
    ("relative", "It is a clever film that works.", "It is a film that is clever and that works."),
    ("relative", "He is a gifted singer.", "He is a singer who is gifted."),
    ("attributive", "It is a film that is odd.", "It is an odd film."),
    ("and_one", "It is a moving story about two boys.", "It is a story about two boys, and a moving one."),
    ("full_of", "It is a film full of life.", "It is a film that is full of life."),
    ("full_of", "He tells a story filled with hope.", "He tells a story that is filled with hope."),
    ("without_that_is", "It is a film that is full of life.", "It is a film full of life."),
    ("that_has", "It is a film with a fine cast.", "It is a film that has a fine cast."),
    ("which_is", "Anna, a doctor, works here.", "Anna, who is a doctor, works here."),
    # lists and pairs
    ("lists", "The film is odd, dull and slow.", "The film is dull, slow and odd."),
    ("lists", "The film is odd, dull, and slow.", "The film is dull, odd, and slow."),
    ("lists", "He likes apples, pears and plums.", "He likes pears, apples and plums."),
    ("as_well_as", "It is odd as well as funny.", "It is both odd and funny."),
    ("not_only", "It is not only odd but also funny.", "It is both odd and funny."),
    # what goes with a verb
    ("seems_that", "The plan seems to work.", "It seems that the plan works."),
    ("seems_that", "The plans appeared to be good.", "It appeared that the plans were good."),
    ("seems_to", "It seems that the plan works.", "The plan seems to work."),
    ("it_takes", "It takes talent to make a dull film.", "To make a dull film takes talent."),
    ("fails_to", "The plan fails to work.", "The plan doesn't work."),
    ("manages", "It manages to surprise us.", "It succeeds in surprising us."),
    ("less_than", "It is less funny than the first.", "It is not as funny as the first."),
    ("among", "It is one of the best films.", "It is among the best films."),
    ("among", "It is among the best films.", "It is one of the best films."),
    ("one", "The film is smart and funny.", "The film is a smart and funny one."),
    ("all_float", "All of it works.", "It all works."),
    ("all_float", "We all had to leave.", "All of us had to leave."),
    ("purpose", "He sold the house to pay his debts.", "To pay his debts, he sold the house."),
    ("in_order_to", "He sold the house to pay his debts.", "He sold the house in order to pay his debts."),
    ("by_doing", "The film surprises by taking its time.", "By taking its time, the film surprises."),
    ("there_are", "There are many ideas floating around.", "Many ideas are floating around."),
    ("going_to", "She will leave soon.", "She is going to leave soon."),
    ("going_to", "The owners will sell the house.", "The owners are going to sell the house."),
    ("going_to", "She is going to leave soon.", "She will leave soon."),
    ("going_to", "He is going to leave and return later.", "He will leave and return later."),
    ("fails_to", "The plan fails to go back to the start.", "The plan doesn't go back to the start."),
    ("such_a", "He never saw such a dull film.", "He never saw so dull a film."),
    ("such_a", "He never saw so dull a film.", "He never saw such a dull film."),
    ("said_who", '"It rained," said Anna.', '"It rained," Anna said.'),
    ("said_who", '"It rained," Anna said.', '"It rained," said Anna.'),
    ("noun_is", "Clooney's a good director.", "Clooney is a good director."),
    ("begins", "He likes to swim.", "He likes swimming."),
    ("no_more", "It doesn't have any wit.", "It has no wit."),
    ("no_more", "There isn't any hope.", "There is no hope."),
    ("not_any", "It contains no jokes.", "It doesn't contain any jokes."),
    # clefts and order
    ("what_it_is_like", "The film suffers from a lack of wit.", "What the film suffers from is a lack of wit."),
    ("what_it_is_like", "It evokes a lost world.", "What it evokes is a lost world."),
    ("so_that_is", "The film is so dull that it hurts.", "So dull is the film that it hurts."),
    ("so_that", "The film is so dull that it hurts.", "The film is so dull it hurts."),
    ("so_that", "He left early, so that she could sleep.", "He left early, so she could sleep."),
    ("place_first", "The boy is at the heart of the story.", "At the heart of the story is the boy."),
    ("seldom", "Rarely has a film been so dull.", "A film has rarely been so dull."),
    ("clause_front", "He is tired, although he likes the cast.", "Although he likes the cast, he is tired."),
    ("however", "It rained. But the game went on.", "It rained. However, the game went on."),
    ("semicolon", "It is slow; the plot is thin.", "It is slow, and the plot is thin."),
    ("after_be", "At its best, it is a farce.", "It is, at its best, a farce."),
    ("after_subject", "When it rains, the roof leaks badly.", "The roof, when it rains, leaks badly."),
    ("dashes", "The film - a comedy - is dull.", "The film, a comedy, is dull."),
    ("dashes", "The film—a comedy—is dull.", "The film, a comedy, is dull."),
    ("brackets", "The film (despite its fine cast) is dull.", "The film, despite its fine cast, is dull."),
    ("with_that", "He said the bridge was old.", "He said that the bridge was old."),
    ("without_that", "He said that the bridge was old.", "He said the bridge was old."),
    ("with_relative", "They like the songs it has.", "They like the songs that it has."),
    ("possessive", "We like the vitality of the actors.", "We like the actors' vitality."),
    ("genitive", "The film's tone and pace are odd.", "The tone and pace of the film are odd."),
    ("contraction", "Do not go there.", "Don't go there."),
    ("spoken", "It isn't bad. The film is a mess.", "It isn't bad. The film's a mess."),
    ("spoken", "I don't know. They should have called it off.", "I don't know. They should've called it off."),
    # reviews, as treebanks write them
    ("spoken", "the film is a mess .", "the film 's a mess ."),
    ("fragment", "a fine film .", "what we have here is a fine film ."),
    ("fragment", "an odd film .", "it 's a film that is odd ."),
    ("fragment", "a moving story about two boys .", "this is a story about two boys , and a moving one ."),
    ("fragment", "extremely boring .", "extremely boring is what it is ."),
    ("fragment", "forced , familiar and dull .", "it 's forced , familiar and dull ."),
    ("fragment", "as odd as its title suggests .", "it 's as odd as its title suggests ."),
    ("fragment", "at its best , resembles a play .", "at its best , it resembles a play ."),
    ("fragment", "offers a fresh look at love .", "what it offers is a fresh look at love ."),
    ("fragment", "a quiet treasure -- a film to be savored .", "it 's a quiet treasure -- a film to be savored ."),
    ("without_frame", "it 's a fine film .", "a fine film ."),
    ("without_frame", "this is so dull .", "it 's so dull ."),
    ("without_it", "it offers a new look at love .", "offers a new look at love ."),
    ("without_it", "i loved every minute of it .", "loved every minute of it ."),
    ("relative", "it is an odd film .", "it is a film that is odd ."),
    ("dashes", "the film -- a comedy -- is dull .", "the film , a comedy , is dull ."),
    ("possessive", "we like the vitality of the actors .", "we like the actors ' vitality ."),
    # curly apostrophes; what is around the sentence stays
    ("contraction", "That’s it. I do not know.", "That’s it. I don’t know."),
    ("to_front", "“Oh!” (AP) - She left in the morning.  So,\nhe did.", "“Oh!” (AP) - In the morning, she left.  So,\nhe did."),
    ("to_front", "But she left in the morning.", "But in the morning, she left."),
]  # fmt: skip

LEFT = [
    ("contraction", "Yes, I am."),
    ("contraction", "I know what it is."),
    ("contraction", "No one knows how good it is."),
    ("contraction", "I have a car."),
    ("contraction", "Watching it is a pleasure."),
    ("expansion", "Anna's book is good."),
    ("expansion", "Don't you think so?"),
    ("expansion", "He's gone."),  # is or has
    ("coordination", "Old men and women left."),
    ("coordination", "He and she left."),
    ("coordination", "They watched a black and white film."),
    ("coordination", "The price of bread and the weather were bad."),
    ("coordination", "He likes the film and the director hates it."),
    ("coordination", "Tom and Jerry is a cartoon."),
    ("coordination", "It rose between January and June."),
    ("coordination", "It is funny and full of life."),
    ("coordination", "It is a funny and odd film, an old and cold one."),  # a odd, an cold
    ("alike", "The script is smart and its cast is fine."),
    ("to_front", "He announced a meeting on Monday."),
    ("to_front", "He put it on the table."),
    ("to_front", "She wants to leave on Monday."),
    ("to_front", "Did she leave in the morning?"),
    ("to_front", 'He said "she left in the morning" twice.'),
    ("to_end", "In the morning, she said that he left."),
    ("clause_order", "I wonder if he knows."),
    ("clause_order", "He did not leave because it rained."),  # perhaps for another reason
    ("clause_order", "She left because Anna was tired."),
    ("clause_order_back", "Because Anna was tired, she left."),  # then she is not Anna any more
    ("but", "It is not only slow, but it is long."),
    ("apposition", "Anna, who is tired, left."),
    ("reduced", "A plan that is made in haste and is forgotten."),
    ("relative_pronoun", "He is a runner that works."),
    ("without_that", "It was so dull that we left."),
    ("without_that", "I like that he left."),
    ("with_that", "It is not as good as she thinks it is."),
    ("without_that", "It is a pity that the film ended."),
    ("without_that", "The book, wise as the notion that the man wrote."),
    ("what_they_do", "He knows a man."),
    ("what_cleft", "Nobody likes the film."),
    ("what_cleft", "She wants Anna."),
    ("time_cleft", "It rained, they said Monday."),
    ("predicate_first", "It is harmless."),
    ("equation", "The star is a script."),
    ("and_comma", "They banned all political and religious groups."),
    ("commas", "It is a new, odd film."),
    ("it_cleft", "I broke the vase."),
    ("there_is", "The man is in the garden."),
    ("fragment", "A fine film wins."),
    ("fragment", "Tired of this."),
    ("genitive", "This year's budget is big."),
    ("genitive", "It is the same snail's pace."),
    ("genitive", "It shows all the queen's men."),
    ("genitive", "The film's sharp, odd wit is fun."),
    ("infinitive", "He was helped to buy it."),
    ("begins", "He begins to sing and dance."),
    ("emphatic", "She did sing and dance."),
    ("possessive", "I saw the rest of the film."),
    ("possessive", "It is the best of the film."),
    ("to_do", "It is too late to see it."),
    ("to_do", "It is hard to watch."),
    ("where", "It is the order in which he sings."),
    ("also", "It is also not very good."),
    ("both", "The film is very sweet and playful."),
    ("also", "It is also funny and sad."),
    ("particle", "Prices went up this week."),
    ("dative", "He found her a book."),
    ("dative", "It brought the country to a standstill."),
    ("all_of", "All the best!"),
    ("all_of", "First of all the film is bad."),
    ("all_of", "Above all the music shines."),
    ("all_of", "Nothing in this hotel works, least of all the lift."),
    ("on_day", "They like Monday mornings."),
    ("emphatic", "What does he have?"),
    ("begins", "He begins to know it."),
    ("after_subject", "With its fine cast, it works."),
    ("and_verb", "He wrote ten books, including this."),
    ("join", "He knows that it is slow, and the plot is thin."),
    ("passive", "John resembles his father."),
    ("passive", "I saw it."),
    ("passive", "Anna destroyed her books."),
    ("passive", "The man has a car."),
    ("active", "It was finished by Monday."),
    ("active", "Prices were raised by five percent."),
    ("said_first", "It rained, he said."),
    # adjectives that mean something else behind their noun, or that belong to a fixed expression
    ("relative", "He is an old friend."),
    ("relative", "It is a political party."),
    ("relative", "It is a black comedy."),
    ("relative", "It is such a dull film."),
    ("relative", "It is a moving film about love."),  # love that is moving
    ("relative", "It is a violent tropical storm."),  # a term
    ("relative", "He likes appealing odd songs."),
    ("what_they_do", "end quoted material."),
    ("relative", "It is a pleasant enough film."),
    ("relative", "It is a story about clever boys that works."),
    ("relative", "Strong Quarter For Clever Songs."),
    ("and_one", "It is not a moving story about two boys."),
    ("and_one", "If it is a moving story about two boys, see it."),
    ("full_of", "It made the hall full of life."),
    ("full_of", "He came home with his mouth full of bread."),
    ("that_has", "He killed a man with a knife."),
    ("which_is", "He saw Anna, a doctor and a nurse."),
    ("lists", "Apples, pears and plums."),  # a title
    ("lists", "They visited the first, second and third of May."),
    ("as_well_as", "The man as well as the boys left."),
    ("seems_that", "It seems to rain."),
    ("seems_that", "The plan seems to work and to please."),
    ("seems_that", "The plan seems to work, to please and to sell."),
    ("fails_to", "He never fails to sing."),
    ("fails_to", "It fails to work and to please."),
    ("fails_to", "It fails to work or to please."),
    ("fails_to", "It fails to work and please."),
    ("fails_to", "It fails to please him, to go on or to sell."),
    ("fails_to", "It fails to work rather than to please."),
    ("manages", "It manages to surprise and to please."),
    ("manages", "It manages to surprise us, but never to please."),
    ("manages", "It manages to surprise us as well as to please them."),
    ("begins", "She started to sing, to dance and to play."),
    ("infinitive", "It helps to win and to shine."),
    ("among", "They are among the best films."),
    ("one", "The actors are smart and funny."),
    ("purpose", "He wants the house to be sold."),
    ("purpose", "He bought the right to sell it."),
    ("going_to", "If he will, he can."),
    ("going_to", "He is going to leave and to return later."),
    ("going_to", "The owners are going to sell the house, to leave or to stay."),
    ("such_a", "There is no such a thing."),
    ("noun_is", "Clooney's good director left."),
    ("begins", "I would like to swim."),
    ("not_any", "Tests show no poison was found."),
    ("what_they_do", "The talks ended this morning."),
    ("what_they_do", "It takes talent to sing."),
    ("what_they_do", "I deleted them and they came back."),
    ("clause_front", "He is not here, because it rained."),
    ("however", "But is it good?"),
    ("semicolon", "It is slow; it is not bad."),
    ("after_be", "Like a child, it is dull."),
    ("after_subject", "While the isle is dull, its hills are fine."),
    ("dashes", "a shoot - 'em - up film ."),
    ("dashes", "AP - The team signed him."),
    ("brackets", "He works at the bank (AP) now."),
    ("relative_pronoun", "He knows the fact that been told."),
    ("relative_pronoun", "It is the best day that came."),
    ("expansion", "the magic he 's spun with it ."),
    ("spoken", "The company is a success."),  # no contractions elsewhere in the text
    ("spoken", "It isn't easy. Watching the film is fun."),
    ("spoken", "I can't. The class is dull."),
    ("fragment", "japan 's great stylist hits audiences with it ."),
    ("fragment", "cool ?"),
    ("without_frame", "It's a fine film."),  # no review
    ("without_frame", "it 's a pity that he left ."),
    ("without_frame", "this is n't a film ."),
    ("without_it", "it seems odd to me ."),
    ("without_it", "it takes talent to do that ."),
    ("without_it", "It offers a new look at love."),
]  # fmt: skip


def reworded(rule: str, text: str) -> list[str]:
    found = [each for name, each in rewordings(text, tagged([text])[0]) if name.__name__ == rule]
    return [text[: each.start] + each.new + text[each.stop :] for each in found]


@pytest.mark.parametrize(("rule", "before", "after"), CHANGED)
def test_rewords(rule: str, before: str, after: str) -> None:
    assert after in reworded(rule, before)


@pytest.mark.parametrize(("rule", "text"), LEFT)
def test_leaves_alone(rule: str, text: str) -> None:
    assert not reworded(rule, text)


def test_every_rule_has_an_example() -> None:
    assert {rule for rule, *_ in CHANGED} == {rule.__name__ for rule in RULES}


def test_other_ones_stay_last() -> None:
    assert reworded("lists", "He likes apples, pears and other fruits.") == ["He likes pears, apples and other fruits."]


def test_headlines_are_no_sentences() -> None:
    """A headline may run on into the sentence; nothing may go to the front of both."""
    text = "Oracle Profit Rises Oracle Corp. reported a profit on Tuesday."
    assert not reworded("to_front", text)
    text = "Oil prices bubble to record high The company won a prize on Tuesday."
    assert reworded("to_front", text) == ["Oil prices bubble to record high On Tuesday, the company won a prize."]


PIECES = """
the a film man Anna she it they is was are has did not n't 's left works knows that who which because although and but in on
Monday morning of , , . . ; -- " ( ) lacks saw made by good sweet very all no there what to be US NEVER I I'm don't 🎬
"""
wordy = st.lists(st.sampled_from([*PIECES.split(), *(before for _, before, _ in CHANGED)]), max_size=30).map(" ".join)
any_text = st.one_of(text, wordy)


@given(any_text)
def test_any_text(text: str) -> None:
    """Each rewording is inside the text and changes it."""
    for _, found in rewordings(text, tagged([text])[0]):
        assert 0 <= found.start < found.stop <= len(text)
        assert text[found.start : found.stop] != found.new and found.new == found.new.strip()


@given(st.lists(any_text, max_size=4), seed, st.integers(1, 3))
def test_repeated_texts_are_the_same_work(texts: list[str], seed: int, k: int) -> None:
    """What is proposed for a text does not depend on the texts around it."""
    many = Corpus.of(texts * 3)
    edits = Syntax().propose(many, Rng.of(many.keys, seed), k=k)
    for row, one in enumerate(texts * 3):
        alone = Corpus.of([one])
        mine, wanted = edits.where(edits.row == row), Syntax().propose(alone, Rng.of(alone.keys, seed), k=k)
        assert mine.start.tolist() == wanted.start.tolist() and mine.text.strings() == wanted.text.strings()


@given(texts)
def test_sentences_are_the_units(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    units = Syntax().units(corpus)
    assert (units.stop > units.start).all() and (units.start[1:] >= units.stop[:-1]).all()
    assert set(units.row.tolist()) == {row for row, text in enumerate(texts) if tagged([text])[0]}


def test_strength_is_a_share_of_sentences() -> None:
    text = "She left in the morning. It is slow, but it is fun. I stayed because it rained. He gave her a book."
    for strength, most in ((0.25, 1), (0.5, 2), (1, 4)):
        new, edits = scuff.perturb([text], Syntax(), strength, return_edits=True)
        assert 1 <= len(edits[0]) <= most and new != [text]


def test_draws_differ() -> None:
    text = "The cast saves the film."
    assert len({scuff.perturb(text, Syntax(), 1, draw=draw) for draw in range(20)}) == 3


def test_several_rewordings_of_one_site() -> None:
    corpus = Corpus.of(["The cast saves the film."])
    edits = Syntax().propose(corpus, Rng.of(corpus.keys, 0), k=9)
    assert sorted(edits.text.strings()) == [
        "It is the cast that saves the film", "The film is saved by the cast", "What the cast does is save the film",
    ]  # fmt: skip
    assert len(set(edits.site.tolist())) == 1


@pytest.mark.parametrize("end", ["", ",", ";", " -", " (", " and", "'"])
def test_sentences_that_end_anywhere_are_no_error(end: str) -> None:
    """Texts are cut off anywhere, also right behind a comma."""
    whole = ("We left by noon, with a fine cast", "He said that, in 1990, the team, which was large, won the game")
    cut = [" ".join(text.split()[:count]) + end for text in whole for count in range(1, len(text.split()) + 1)]
    assert len(scuff.perturb(cut, "syntax", 1.0)) == len(cut)
