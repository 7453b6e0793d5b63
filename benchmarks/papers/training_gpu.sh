#!/usr/bin/env bash
# Runs the papers' tables of training on one GPU: zeroe_training.py and toxictrap_training.py side by side.
#
#   benchmarks/papers/training_gpu.sh      writes $OUT/zeroe-training.tar.gz and $OUT/toxictrap-training.tar.gz: cells, rows and logs,
#                                          no texts and no models
#
# LIMIT: seconds for both (default 520). MINILM: all-MiniLM-L6-v2 as a Hugging Face folder. VECTORS: lists of neighbours
# (word_vectors.py). SCUFF_SHARED: a folder with data/{ud_ewt,snli,jigsaw,davidson,wikitext}. WORK: where cells are kept between
# calls (default runs/training): a second call goes on where the first one stopped. ZEROE_JOBS, TOXICTRAP_JOBS: processes of each.
# PYTHONPATH: a folder with what the machine lacks of rapidfuzz, gruut-lang-en and lemminflect; without them most cells fail.
# ZEROE, TOXICTRAP: further arguments of each, such as --tiny; "no": not run. DEVICE: cpu for a try.
set -u
cd "$(dirname "$0")/../.."
export PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
export OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out} WORK=${WORK:-runs/training} DEVICE=${DEVICE:-cuda} PYTHON=${PYTHON:-python3} LIMIT=${LIMIT:-520}
ZEROE=${ZEROE:-} TOXICTRAP=${TOXICTRAP:-} ZEROE_JOBS=${ZEROE_JOBS:-9} TOXICTRAP_JOBS=${TOXICTRAP_JOBS:-7}
mkdir -p "$OUT" "$WORK/zeroe" "$WORK/toxictrap"
if [ "$DEVICE" = cuda ] && command -v nvidia-cuda-mps-control >/dev/null; then
  export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps CUDA_MPS_LOG_DIRECTORY=/tmp/mps-log
  mkdir -p /tmp/mps /tmp/mps-log
  setsid nvidia-cuda-mps-control -d 2>/dev/null
fi
minilm=${MINILM:+--minilm $MINILM}
if [ "$ZEROE" != no ]; then
  $PYTHON benchmarks/papers/zeroe_training.py run --out "$WORK/zeroe" --device "$DEVICE" --jobs "$ZEROE_JOBS" --limit "$LIMIT" \
    $minilm $ZEROE >> "$WORK/zeroe/log.txt" 2>&1 &
fi
if [ "$TOXICTRAP" != no ]; then
  $PYTHON benchmarks/papers/toxictrap_training.py run --out "$WORK/toxictrap" --device "$DEVICE" --jobs "$TOXICTRAP_JOBS" \
    --limit "$LIMIT" --vectors "$VECTORS" $minilm $TOXICTRAP >> "$WORK/toxictrap/log.txt" 2>&1 &
fi
wait
for each in zeroe toxictrap; do
  (cd "$WORK/$each" && tar -czf - $(ls -d about.json cells rows log.txt 2>/dev/null)) > "$OUT/$each-training.tar.gz"
  grep -v "^Warning" "$WORK/$each/log.txt" | grep -h "FAILED\|cells, \| left$" | tail -n 25
  tail -n 60 "$WORK/$each/log.txt" | cut -c1-160
done
ls -l "$OUT"
