/* Calibrates the digits network on the device: runs it in fixed point on
 * images, observes what every layer reads, searches the clip limits with IFMR,
 * and prints a record. All that it prints is the record: other words stand in
 * comments. The same source runs on a host and must print the same. */
#include "io.h"
#include "layer.h"

#include "float_weights.h"
#include "qrt_record.h"
#include "quant_tables.h"
#include "train_set.h"

#define IMAGES         128  /* as examples/digits/calibrate.py takes      */
#define OBSERVER_BYTES 8192 /* for each layer                             */

static int8_t conv1_code[144], dw_code[144], pw_code[384], fc_code[3840];

/* clang-format off */
static struct layer net[] = {
    /*          in  out group  side k  s  p  side */
    {QUANT_CONV1,  1, 16,  1,  8, 3, 1, 1, 8, conv1_weight_f, conv1_bias_f, conv1_code, {{0, 0}}, 0, {0}},
    {QUANT_DW,    16, 16, 16,  8, 3, 2, 1, 4, dw_weight_f,    dw_bias_f,    dw_code,    {{0, 0}}, 0, {0}},
    {QUANT_PW,    16, 24,  1,  4, 1, 1, 0, 4, pw_weight_f,    pw_bias_f,    pw_code,    {{0, 0}}, 0, {0}},
    {QUANT_FC,   384, 10,  1,  1, 1, 1, 0, 1, fc_weight_f,    fc_bias_f,    fc_code,    {{0, 0}}, 0, {0}},
};
/* clang-format on */

enum { LAYERS = sizeof net / sizeof *net };

static uint64_t storage[LAYERS][QRT_IFMR_STORAGE(OBSERVER_BYTES)];
static struct qrt_ifmr_observer seen[LAYERS];

static void put(void *context, char c)
{
    char text[2];

    (void)context;
    text[0] = c;
    text[1] = '\0';
    io_text(text);
}

static int fail(const char *where, enum qrt_status status)
{
    io_text("# ");
    io_text(where);
    io_text(": ");
    io_text(qrt_status_name(status));
    io_text("\n");
    return 1;
}

/* Weights to codes, observers to nothing seen. */
static enum qrt_status prepare(void)
{
    enum qrt_status status = QRT_OK;
    int i;

    for (i = 0; i < LAYERS && status == QRT_OK; i++) {
        status = layer_prepare(&net[i], quant_layers[net[i].row].arq);
        if (status == QRT_OK)
            status = qrt_ifmr_init(&seen[i], storage[i], sizeof storage[i]);
    }
    return status;
}

/* One image through the network. The last layer is only observed: nothing
 * reads its output. */
static enum qrt_status observe(const struct digits_image *image)
{
    static int32_t memory[2][LARGEST];
    enum qrt_status status = QRT_OK;
    int i;

    for (i = 0; i < IMAGE_PIXELS; i++)
        memory[0][i] = image_grey(image, i) * (1 << (FRAC - IMAGE_FRAC));
    for (i = 0; i < LAYERS && status == QRT_OK; i++) {
        status = qrt_ifmr_add_s32(&seen[i], memory[i & 1],
                                  layer_inputs(&net[i]), FRAC);
        if (status == QRT_OK && i + 1 < LAYERS)
            status = layer_run(&net[i], memory[i & 1], memory[(i + 1) & 1]);
    }
    return status;
}

/* Searches the step of a layer's input and prints the layer's entry. */
static enum qrt_status report(int i)
{
    const struct qrt_layer *layer = &quant_layers[net[i].row];
    struct qrt_ifmr_result found;
    struct qrt_record record = {0};
    enum qrt_status status =
        qrt_ifmr_finish(&seen[i], layer->ifmr, layer->act_bits,
                        layer->act_asymmetric != 0, &found);

    if (status != QRT_OK)
        return status;
    record.name = layer->name;
    record.scale_d_bits = found.scale_bits;
    record.offset_d = found.zero_point;
    record.scale_w = net[i].scale_w;
    record.scale_count = net[i].scale_count;
    record.act_bits = layer->act_bits;
    record.wts_bits = layer->arq->bits;
    record.ifmr = &found;
    return qrt_record_write(&record, put, NULL);
}

int main(void)
{
    enum qrt_status status = qrt_tables_check(&quant_tables, QUANT_TABLES_HASH);
    int i;

    if (status != QRT_OK)
        return fail("quant_tables", status);
    status = prepare();
    if (status != QRT_OK)
        return fail("weights", status);
    for (i = 0; i < IMAGES; i++) {
        status = observe(&train_set[i]);
        if (status != QRT_OK)
            return fail("observing", status);
    }
    io_text(QUANT_TABLES_RECORD_HEAD);
    for (i = 0; i < LAYERS; i++) {
        status = report(i);
        if (status != QRT_OK)
            return fail(quant_layers[net[i].row].name, status);
    }
    return 0;
}
