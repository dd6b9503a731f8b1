/* Tables and weights of a network from a deployment image, which stands behind
 * image_data. */
#include "net.h"

#include "qrt_image.h"

/* Of 64-bit hosts; a big-endian one keeps all arrays but the codes here. */
#define ROOM 98304u

extern const uint64_t image_data[], image_end[];

static uint64_t room[ROOM / 8];

/* Bytes of the buffer that are left behind the first `used`. */
static enum qrt_status open_layer(const struct qrt_image *im,
                                  struct net_layer *l, size_t *used)
{
    size_t need = qrt_image_weights_scratch(im, l->row);
    struct qrt_image_weights w;
    enum qrt_status status = qrt_image_weights(
        im, l->row, (uint8_t *)room + *used, ROOM - *used, &w);

    if (status == QRT_ERR_NOT_FOUND)
        return QRT_OK; /* a pooling */
    if (status != QRT_OK)
        return status;
    *used += need;
    l->weight = w.codes;
    l->bias = w.bias;
    return w.layout == QRT_IMAGE_ONNX ? QRT_OK : QRT_ERR_STATE;
}

enum qrt_status net_open(void)
{
    static struct qrt_tables tables;
    struct qrt_image im;
    size_t size = (size_t)((const uint8_t *)image_end -
                           (const uint8_t *)image_data),
           used = 0;
    uint32_t i;
    enum qrt_status status = qrt_image_open(image_data, size, &im);

    if (status == QRT_OK) {
        used = qrt_image_tables_scratch(&im);
        status = qrt_image_tables(&im, room, ROOM, &tables);
    }
    for (i = 0; status == QRT_OK && i < net_size; i++)
        status = open_layer(&im, &net[i], &used);
    net_tables = &tables;
    return status == QRT_OK ? qrt_tables_check(&tables, 0) : status;
}
