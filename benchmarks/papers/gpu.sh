#!/usr/bin/env bash
# Trains the victims and does RobTest's runs on one GPU, side by side; prints a line for each run that ends.
#
#   benchmarks/papers/gpu.sh        writes $OUT/robtest.tar.gz: the runs' summaries (not their trials), the victims' metrics, logs,
#                                   and robtest-validity.json (Figure 5)
#
# MINUTES: for everything together (default 9). MINILM: all-MiniLM-L6-v2 as a Hugging Face folder (default carry/minilm, weights in
# fp16). SCUFF_SHARED: a folder with data/{sst2,agnews,jigsaw} and models/{sst2,mlm} (default carry). WORK: where runs and victims
# are kept between calls (default runs/papers): a second call goes on where the first one stopped. DEVICE, AT_ONCE, WORKERS, MORE
# (further arguments of robtest.py run) for tries on a CPU. KEEP: victims to bring home, as $OUT/NAME.delta-*.safetensors.
set -u
cd "$(dirname "$0")/../.."
export PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}" SCUFF_SHARED="${SCUFF_SHARED:-$PWD/carry}" PYTHONUNBUFFERED=1
export OMP_NUM_THREADS=1 RAYON_NUM_THREADS=2 TOKENIZERS_PARALLELISM=true
OUT=${OUT:-runs/out} WORK=${WORK:-runs/papers} MINILM=${MINILM:-carry/minilm} DEVICE=${DEVICE:-cuda} PYTHON=${PYTHON:-python3}
MINUTES=${MINUTES:-9} AT_ONCE=${AT_ONCE:-5} WORKERS=${WORKERS:-3} MORE=${MORE:-} TRAIN=${TRAIN:-}
mkdir -p "$OUT" "$WORK/robtest/summaries" "$WORK/robtest/logs"
if [ "$DEVICE" = cuda ] && command -v nvidia-cuda-mps-control >/dev/null; then
  export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps CUDA_MPS_LOG_DIRECTORY=/tmp/mps-log
  mkdir -p /tmp/mps /tmp/mps-log
  nvidia-cuda-mps-control -d 2>/dev/null
fi
begin=$(date +%s)
# the shared models first, which take a second, so that their runs begin while the others are trained
$PYTHON benchmarks/papers/victims.py sst2 mlm --restore --out "$WORK/victims" --minilm "$MINILM"
$PYTHON benchmarks/papers/victims.py --out "$WORK/victims" --minilm "$MINILM" --device "$DEVICE" --seconds 150 $TRAIN \
  > "$WORK/victims.log" 2>&1 &
training=$!
# Figure 5 needs the shared models alone
$PYTHON benchmarks/papers/robtest_validity.py --model "$WORK/victims/sst2" --mlm "$WORK/victims/mlm" --out "$WORK/validity" --minilm "$MINILM" --device "$DEVICE" --evidence \
  "$WORK/robtest-validity.json" ${VALIDITY:---examples 300 --cases 20 --workers 2} > "$WORK/validity.log" 2>&1 &
validity=$!
left=$($PYTHON -c "import time; print(max(0.5, $MINUTES - (time.time() - $begin) / 60))")
$PYTHON benchmarks/papers/robtest.py run --out "$WORK/robtest" --victims "$WORK/victims" --minilm "$MINILM" --device "$DEVICE" \
  --at-once "$AT_ONCE" --workers "$WORKERS" --minutes "$left" --wait $MORE
status=$?
while kill -0 "$validity" 2>/dev/null && [ $(($(date +%s) - begin)) -lt $((60 * MINUTES)) ]; do sleep 1; done
pkill -TERM -P "$training" 2>/dev/null  # what is still being trained
pkill -TERM -P "$validity" 2>/dev/null
kill "$validity" 2>/dev/null
tail -n 30 "$WORK/validity.log"
grep -h -o "^[a-z0-9-]*: \(epoch\|test\).*" "$WORK/victims.log"
mkdir -p "$WORK/victims-metrics"
for each in "$WORK"/victims/*/; do
  for file in metrics config; do cp "$each$file.json" "$WORK/victims-metrics/$(basename "$each").$file.json"; done
done
[ -z "${KEEP:-}" ] || $PYTHON benchmarks/papers/victims.py $KEEP --out "$WORK/victims" --deltas "$OUT"
tar -czf "$OUT/robtest.tar.gz" -C "$WORK" robtest/summaries robtest/logs victims-metrics victims.log \
  validity.log $(cd "$WORK" && ls robtest-validity.json 2>/dev/null)
ls -l "$OUT/robtest.tar.gz"
exit $status
