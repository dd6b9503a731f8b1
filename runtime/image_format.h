/* Offsets of the deployment image, shared by image.c and image_view.c, which
 * read it, and the compiler, which writes it. Little endian; blocks aligned to
 * 8.
 *
 * No two things overlap or are shared, except recipes, which layers name by
 * their entry in a directory. So a reader that counts the bytes it has checked
 * is done after as many as the image has, whatever the image says. */
#ifndef IMAGE_FORMAT_H
#define IMAGE_FORMAT_H

/* Header */
#define IMG_MAGIC       0x49545251u /* "QRTI"                              */
#define IMG_H_MAGIC     0           /* u32                                 */
#define IMG_H_VERSION   4           /* u16 format version                  */
#define IMG_H_HEAD      6           /* u16 size of the header              */
#define IMG_H_SIZE      8           /* u32 size of the image               */
#define IMG_H_CRC       12          /* u32 CRC-32 of everything behind it  */
#define IMG_H_HASH      16          /* u64 over all inputs                 */
#define IMG_H_CONFIG    24          /* u32 CRC-32 of the configuration     */
#define IMG_H_MODEL     28          /* u32 of the model                    */
#define IMG_H_RECORD    32          /* u32 of the record; 0: none          */
#define IMG_H_TOOL      36          /* u32 version of quantc               */
#define IMG_H_COUNT     40          /* u32 layers                          */
#define IMG_H_BATCH     44          /* u32 batch_num                       */
#define IMG_H_LAYERS    48          /* u32 offset of the layer records     */
#define IMG_H_BY_NAME   52          /* u32 offset of u16[layers]           */
#define IMG_H_RECIPES   56          /* u32 offset of the recipe directory  */
#define IMG_H_RECIPE_N  60          /* u32 its entries                     */
#define IMG_H_OPTIONS   64          /* u32 CRC-32 of the options; 0: none  */
#define IMG_HEADER_SIZE 72

/* Entry of the recipe directory: activation recipes, which layers share. */
#define IMG_R_KIND      0 /* u32 1 ifmr, 2 hfmg, 3 ulq                     */
#define IMG_R_AT        4 /* u32 offset                                    */
#define IMG_RECIPE_SIZE 8

/* Layer record */
#define IMG_L_NAME     0  /* u32 offset of the name, NUL-terminated       */
#define IMG_L_OP       4  /* u8 enum qrt_op                               */
#define IMG_L_ENABLED  5  /* u8 0 or 1                                    */
#define IMG_L_ACT_BITS 6  /* u8                                           */
#define IMG_L_ASYM     7  /* u8 0 or 1                                    */
#define IMG_L_CHANNELS 8  /* u32                                          */
#define IMG_L_ARQ_BITS 12 /* u8; 0: no recipe                             */
#define IMG_L_ARQ_PER  13 /* u8 0 or 1                                    */
#define IMG_L_ARQ_ALGO 14 /* u8 enum qrt_arq_algo                         */
#define IMG_L_ACT      16 /* u32 entry of the recipe directory            */
#define IMG_L_FACTORS  20 /* u32 offset; 0: none                          */
#define IMG_L_EDGE     24 /* u32 offset; 0: none                          */
#define IMG_L_RULE     28 /* u8 enum qrt_rule                             */
#define IMG_L_EXACT    29 /* u8 enum qrt_exactness                        */
#define IMG_L_JOIN     32 /* u32 offset; 0: none                          */
#define IMG_L_WEIGHTS  36 /* u32 offset; 0: none                          */
#define IMG_LAYER_SIZE 40 /* the rest is 0                                */

enum { IMG_IFMR = 1, IMG_HFMG, IMG_ULQ };

/* ifmr recipe */
#define IMG_I_MAX_P   0  /* u64 binary64                                 */
#define IMG_I_MIN_P   8  /* u64 binary64                                 */
#define IMG_I_COUNT   16 /* u32                                          */
#define IMG_I_RATIOS  20 /* u32 offset of u32[count]                     */
#define IMG_IFMR_SIZE 24
/* hfmg recipe */
#define IMG_HFMG_SIZE 8 /* u32 bins, u32 0                              */
/* ulq recipe */
#define IMG_U_FIXED  0  /* u32 0 or 1                                   */
#define IMG_U_CLIP   4  /* u32 0 or 1                                   */
#define IMG_U_MAX    8  /* real                                         */
#define IMG_U_MIN    16 /* real                                         */
#define IMG_ULQ_SIZE 24
/* factors; a real is i32 m, i32 e */
#define IMG_F_SCALE_D    0  /* real                                         */
#define IMG_F_RECIP_D    8  /* real                                         */
#define IMG_F_OFFSET_D   16 /* i32                                          */
#define IMG_F_COUNT      20 /* u32                                          */
#define IMG_F_SCALE_W    24 /* u32 offset of real[count]                    */
#define IMG_F_DEQUANT    28 /* u32 offset of real[count]                    */
#define IMG_F_WORD_D     32 /* u32 offset of u64[count]; 0: none            */
#define IMG_F_WORD_F     36 /* u32 offset of u64[count]; 0: none            */
#define IMG_FACTORS_SIZE 40
/* edge */
#define IMG_E_REQUANT 0  /* u32 offset of real[count of the factors]     */
#define IMG_E_ZERO    4  /* i32                                          */
#define IMG_E_MIN     8  /* i32                                          */
#define IMG_E_MAX     12 /* i32                                          */
#define IMG_E_NEXT    16 /* u32 layer                                    */
#define IMG_EDGE_SIZE 24
/* join */
#define IMG_J_KIND    0  /* u8 enum qrt_join_kind                        */
#define IMG_J_FRAC    1  /* u8                                           */
#define IMG_J_MEAN    2  /* u8 0 or 1                                    */
#define IMG_J_COUNT   3  /* u8 terms                                     */
#define IMG_J_TERMS   4  /* u32 offset of term[count]                    */
#define IMG_J_EDGE    8  /* u32 offset; 0: that of the term's layer      */
#define IMG_J_TABLE   12 /* u32 offset of i8[256]; 0: none               */
#define IMG_J_LOW     16 /* i32                                          */
#define IMG_J_HIGH    20 /* i32                                          */
#define IMG_J_ZERO    24 /* i32                                          */
#define IMG_J_MIN     28 /* i32                                          */
#define IMG_J_MAX     32 /* i32                                          */
#define IMG_JOIN_SIZE 40
/* term */
#define IMG_T_SCALE    0  /* u32 offset of real[count]; 0: none           */
#define IMG_T_COUNT    4  /* u32                                          */
#define IMG_T_LAYER    8  /* u32                                          */
#define IMG_T_ZERO     12 /* i32                                          */
#define IMG_T_LOW      16 /* i32                                          */
#define IMG_T_HIGH     20 /* i32                                          */
#define IMG_T_CODE     24 /* u32 0 or 1                                   */
#define IMG_TERM_SIZE  32
#define IMG_TABLE_SIZE 256
/* weights */
#define IMG_W_CODES      0  /* u32 offset of u8[bytes]                      */
#define IMG_W_BYTES      4  /* u32                                          */
#define IMG_W_CHANNELS   8  /* u32                                          */
#define IMG_W_BIAS       12 /* u32 offset of i32[channels]                  */
#define IMG_W_BIAS_ZP    16 /* u32 offset of i32[channels]                  */
#define IMG_W_PAIRS      20 /* u8 1: two codes of 4 bits in a byte          */
#define IMG_W_LAYOUT     21 /* u8 enum qrt_image_layout                     */
#define IMG_WEIGHTS_SIZE 24

#endif
