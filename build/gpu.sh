#!/usr/bin/env bash
# All training on one GPU, side by side. Run from the repository root on the machine with the GPU: bash build/gpu.sh OUT
set -euo pipefail
out=$1
work=$(mktemp -d)
export PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
python3 build/glyphs/train.py carry/glyphs.npz "$out" --epochs "${GLYPH_EPOCHS:-40}" &
glyphs=$!
for stage in g2p p2g wordsim; do
  python3 build/phonetics/train.py $stage carry/lexicon.json.gz "$work" --epochs "${EPOCHS:-40}" &
  stages+=($!)
done
for job in "${stages[@]}"; do wait "$job"; done
parts=()
for part in 0 1 2 3; do
  python3 build/phonetics/train.py respell carry/lexicon.json.gz "$work" --shard $part/4 &
  parts+=($!)
done
for job in "${parts[@]}"; do wait "$job"; done
wait "$glyphs"
(cd "$work" && tar cf "$out/phonetics.tar" ./*.json ./*.json.gz)
ls -la "$out"
