/* Deployment images: the tables of quant_tables.c as one binary, for updating
 * them apart from the firmware.
 *
 * An image is position independent and little endian on every host, so the
 * bytes that quantc writes are the bytes a device gets. qrt_image_open checks
 * all of it once; afterwards every access is plain. docs/images.md has every
 * byte of the format. */
#ifndef QRT_IMAGE_H
#define QRT_IMAGE_H

#include "qrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QRT_IMAGE_VERSION 2u

/* An open image. All members are read-only for the caller. */
struct qrt_image {
    const uint8_t *base; /* the caller's bytes                             */
    uint32_t size;
    uint32_t layer_count;
    uint32_t layers;  /* offset of the layer records                    */
    uint32_t by_name; /* offset of the sorted index                     */
    uint32_t recipes; /* offset of the recipe directory                 */
    uint32_t recipe_count;
    uint32_t batch_num;
    uint32_t tool;          /* version of quantc: major << 16 | minor << 8 |
                            patch                                          */
    uint64_t hash;          /* as QUANT_TABLES_HASH                      */
    uint32_t config_crc32;  /* as QUANT_TABLES_CONFIG_CRC32              */
    uint32_t model_crc32;   /* as QUANT_TABLES_MODEL_CRC32               */
    uint32_t record_crc32;  /* of the record; 0: none                    */
    uint32_t options_crc32; /* of quantc.options; 0: none               */
};

/* What qrt_image_moved found. */
#define QRT_IMAGE_OTHER_CONFIG 1u
#define QRT_IMAGE_OTHER_MODEL  2u

/* What a row of the tables points at. */
struct qrt_image_parts {
    struct qrt_arq arq;
    struct qrt_ifmr ifmr;
    struct qrt_hfmg hfmg;
    struct qrt_ulq ulq;
    struct qrt_factors factors;
    struct qrt_edge edge;
    struct qrt_join join;
    struct qrt_edge join_edge;
};

/* One layer of an image as the structs of qrt_tables.h. `layer` points into
 * the view, the image and the buffer given to qrt_image_layer: keep all three
 * in place while it is used. */
struct qrt_image_layer {
    struct qrt_layer layer;
    struct qrt_image_parts parts;
};

/* The order of weights: `quantc image --layout`. */
enum qrt_image_layout {
    QRT_IMAGE_ONNX = 0, /* as in the model                                */
    QRT_IMAGE_CMSIS = 1 /* input channel last; depthwise: output channel  */
};

/* Weights of one layer, as quant_weights.h has them. */
struct qrt_image_weights {
    const int8_t *codes;    /* [bytes]; null when in pairs, or none       */
    const uint8_t *pairs;   /* [bytes] two codes of 4 bits in each; or null */
    uint32_t bytes;         /*                                            */
    uint32_t channels;      /* of the output                              */
    const int32_t *bias;    /* [channels] for sums of (code - offset_d) *
                               weight                                     */
    const int32_t *bias_zp; /* [channels] for sums of code * weight       */
    uint8_t layout;         /* enum qrt_image_layout                      */
};

/* Checks an image: magic, versions, CRC-32, every offset, count, alignment and
 * range. Nothing outside [image, image + size) is read, whatever it holds.
 *
 * image   aligned to 8 bytes; must stay in place while `out` is used
 * size    bytes; may be more than the image's own size (a flash partition)
 * out     untouched on error
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (alignment, an offset or a
 * value), QRT_ERR_SIZE (shorter than it says), QRT_ERR_VERSION (not an image,
 * or of another format), QRT_ERR_HASH (CRC). */
enum qrt_status qrt_image_open(const void *image, size_t size,
                               struct qrt_image *out);

/* Bytes of buffer that qrt_image_layer needs: for the terms of a join and, on a
 * big-endian target, for arrays, which are used in place elsewhere. 0 for an
 * index out of range. */
size_t qrt_image_layer_scratch(const struct qrt_image *im, uint32_t index);

/* The view of one layer. An edge's and a join's `layer` and `next` are indices
 * of other layers of the image.
 *
 * index   [0, layer_count)
 * buffer  aligned to 8 bytes, qrt_image_layer_scratch() bytes; null if none
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (index), QRT_ERR_SCRATCH. */
enum qrt_status qrt_image_layer(const struct qrt_image *im, uint32_t index,
                                void *buffer, size_t buffer_size,
                                struct qrt_image_layer *out);

/* Bytes of buffer that qrt_image_tables needs. */
size_t qrt_image_tables_scratch(const struct qrt_image *im);

/* All layers at once, for code that takes the tables of a whole network.
 *
 * buffer  aligned to 8 bytes, qrt_image_tables_scratch() bytes; `out` points
 *         into it and into the image: keep both in place
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_SCRATCH. */
enum qrt_status qrt_image_tables(const struct qrt_image *im, void *buffer,
                                 size_t buffer_size, struct qrt_tables *out);

/* Bytes of buffer that qrt_image_weights needs: 0 on a little-endian target.
 * 0 for an index out of range. */
size_t qrt_image_weights_scratch(const struct qrt_image *im, uint32_t index);

/* The weights of one layer, of `quantc image --weights`.
 *
 * index   [0, layer_count)
 * buffer  aligned to 8 bytes, qrt_image_weights_scratch() bytes; null if none
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (index), QRT_ERR_NOT_FOUND (the
 * layer has none), QRT_ERR_SCRATCH. */
enum qrt_status qrt_image_weights(const struct qrt_image *im, uint32_t index,
                                  void *buffer, size_t buffer_size,
                                  struct qrt_image_weights *out);

/* The index of a layer by its original name.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_NOT_FOUND. */
enum qrt_status qrt_image_find(const struct qrt_image *im, const char *name,
                               uint32_t *index);

/* Whether an image was made from other inputs than the firmware.
 *
 * im      from qrt_image_open
 * config  QUANT_TABLES_CONFIG_CRC32, or 0: any configuration will do
 * model   QUANT_TABLES_MODEL_CRC32, or 0: any model will do
 *
 * Returns 0, or which of them moved: QRT_IMAGE_OTHER_CONFIG |
 * QRT_IMAGE_OTHER_MODEL. Factors (the record) may always be others: bringing
 * these is what images are for. im must not be null. */
uint32_t qrt_image_moved(const struct qrt_image *im, uint32_t config,
                         uint32_t model);

#ifdef __cplusplus
}
#endif

#endif
