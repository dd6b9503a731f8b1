#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Activations searched by HFMG, and ULQ with clips from the configuration, all
# the way: tables, self-test, plan, image, show, explain, diff, calibrate.
. "$(dirname "$0")/lib.sh"

top=$PWD
d=$top/examples/digits
flags="-std=c99 -Wall -Wextra -pedantic -Werror -I$top/runtime"
cd "$work" || exit 1
says() { # says TEXT COMMAND...: on standard output
    text=$1
    shift
    "$@" >"said" || return
    grep -qF -- "$text" "said" || {
        cat "said"
        return 1
    }
}

cat >"hfmg.cfg" <<'END'
activation_offset: true
common_config { hfmg_quantize { num_of_bins: 2048 } }
override_layer_configs {
  layer_name: "fc"
  calibration_config { ifmr_quantize { } arq_quantize { channel_wise: false } }
}
END
sed 's/2048/1024/' "hfmg.cfg" >"other.cfg"
cat >"ulq.cfg" <<'END'
retrain_data_quant_config {
  ulq_quantize { clip_max_min { clip_max: 3 clip_min: -1.5 } }
}
retrain_weight_quant_config { arq_retrain { channel_wise: false } }
END
cat >"look.c" <<'END'
#include "qrt_selftest.h"
#include "quant_tables.h"

int main(void)
{
    const struct qrt_layer *conv = &quant_layers[QUANT_CONV1];
    const struct qrt_layer *fc = &quant_layers[QUANT_FC];
#ifdef ULQ /* 3 = 0.75 * 2^2, 1.5 = 0.75 * 2^1 */
    return !(conv->ulq && fc->ulq && !conv->ifmr && !conv->hfmg &&
             conv->ulq->has_clip && conv->ulq->clip_max.m == 1610612736 &&
             conv->ulq->clip_max.e == 2 && conv->ulq->clip_min.e == 1 &&
             conv->ulq->clip_min.m == -1610612736 && !conv->ulq->fixed_min);
#else
    struct qrt_selftest_fault fault;

    return !(conv->hfmg && conv->hfmg->bins == 2048 && !conv->ifmr &&
             !conv->ulq && fc->ifmr && !fc->hfmg) ||
           qrt_selftest(&quant_tables, &quant_selftest, &fault) != QRT_OK;
#endif
}
END

for k in hfmg ulq; do
    inputs="$k.cfg --model $d/model.onnx"
    [ $k = hfmg ] && inputs="$inputs --record $d/record.txt --selftest" define=-DHFMG
    [ $k = ulq ] && define=-DULQ
    ok "$k: compile" "$QUANTC" compile $inputs -o "$k" --plan "$k/plan.json"
    ok "$k: build" "$CC" $flags $define -I"$k" "look.c" "$k/quant_tables.c" \
        "$BUILD/libquantrt.a" -o "look-$k"
    ok "$k: the tables say it" "./look-$k"
    inputs=${inputs% --selftest}
    ok "$k: image" "$QUANTC" image $inputs -o "$k.img"
    ok "$k: build for the image" "$CC" -std=gnu99 -DQRT_OFFLOAD=0 -I"$top/runtime" -I"$k" \
        "$top/tests/image/check_image.c" "$k/quant_tables.c" "$BUILD/libquantrt.a" -o "check-$k"
    ok "$k: the image says it; 1,000 mutations" "./check-$k" "$k.img" 1000
done

# ---- 16 bits: codes between layers do not fit a byte ----

cat >wide.cfg <<'END'
common_config {
  ifmr_quantize { dst_type: INT16 asymmetric: false }
  arq_quantize { channel_wise: false }
}
END
for l in conv1 dw pw fc; do
    printf 'record { key: "%s" value { scale_d: 1e-4 offset_d: 0 scale_w: 0.01 offset_w: 0 act_type: "INT16" } }\n' $l
done >wide.txt
cat >wide.c <<'END'
#include "qrt_selftest.h"
#include "quant_tables.h"

int main(void)
{
    struct qrt_selftest_fault fault;

    return quant_layers[QUANT_CONV1].act_bits != 16 ||
           quant_layers[QUANT_CONV1].edge->code_max != 32767 ||
           qrt_selftest(&quant_tables, &quant_selftest, &fault) != QRT_OK;
}
END
ok "16 bits: compile" "$QUANTC" compile wide.cfg --model "$d/model.onnx" --record wide.txt --selftest -o wide
ok "16 bits: build" "$CC" $flags -Iwide wide.c wide/quant_tables.c "$BUILD/libquantrt.a" -o look-wide
ok "16 bits: self-test" ./look-wide

# ---- what else tells of them ----

ok "hfmg: show" says '  hfmg         2048 bins' "$QUANTC" show "hfmg.img"
ok "ulq: show" says '  ulq          free, clip -1.5 to 3' "$QUANTC" show "ulq.img"
ok "ulq: show, behind a ReLU" says '  ulq          fixed_min, clip -1.5 to 3' "$QUANTC" show "ulq.img"
in_plan() { # in_plan KIND MEMBER TEXT AT
    tr -d '\t\n' <"$1/plan.json" | grep -qF "\"$2\":{\"text\":\"$3\",\"level\":\"common_config\",\"at\":\"$4\"}"
}
ok "hfmg: plan" in_plan hfmg num_of_bins 2048 hfmg.cfg:2
ok "ulq: plan, clip_max" in_plan ulq clip_max 3 ulq.cfg:2
ok "ulq: plan, clip_min" in_plan ulq clip_min -1.5 ulq.cfg:2
ok "hfmg: compile, named by its path" "$QUANTC" compile "$work/hfmg.cfg" --model "$d/model.onnx" \
    --record "$d/record.txt" --selftest -o path --plan path/plan.json
ok "hfmg: no path is in the plan" cmp hfmg/plan.json path/plan.json
# fixed_min follows from the graph: the plan says why
why() {
    tr -d '\t\n' <ulq/plan.json >line
    grep -qF '"fixed_min":{"text":"false","level":"graph","why":"the input does not come from a ReLU"}' line || {
        grep -o '"fixed_min":{[^}]*}' line
        return 1
    }
}
ok "ulq: plan, why fixed_min" why
ok "hfmg: explain" says 'num_of_bins         2048      hfmg.cfg:2:46, common_config' \
    "$QUANTC" explain "hfmg.cfg" --model "$d/model.onnx" conv1
differs() {
    "$QUANTC" diff "hfmg.cfg" "other.cfg" --model "$d/model.onnx" >"said"
    [ $? = 1 ] && grep -qF 'num_of_bins        2048 (hfmg.cfg:2, common_config) -> 1024 (other.cfg:2' "said"
}
ok "hfmg: diff" differs
ok "hfmg: other bins" "$QUANTC" compile other.cfg --model "$d/model.onnx" --record "$d/record.txt" -o other
ok "hfmg: the other table says them" grep -q '1024u, .*num_of_bins' other/quant_tables.c

# calibrated with HFMG, the record is complete
sed '1i batch_num: 2' "hfmg.cfg" >"two.cfg"
ok "hfmg: calibrate" "$QUANTC" calibrate "two.cfg" --model "$d/model.onnx" --data "$top/tests/calib/data" \
    -o "record.txt"
ok "hfmg: the record tells the search" test "$(grep -c 'hfmg: .* samples in' "record.txt")" = 3
ok "hfmg: the record compiles" "$QUANTC" compile "two.cfg" --model "$d/model.onnx" \
    --record "record.txt" -o "calibrated" --werror
fails 1 "hfmg: no shards, the order of batches counts" "$QUANTC" calibrate "two.cfg" \
    --model "$d/model.onnx" --data "$top/tests/calib/data" --partial "shard.qobs"
finish
