/* h1_scan.c: see h1_scan.h. Each scanner is written once, with a few operations on blocks of 16 bytes. SSE2
 * and NEON both have these operations. A table is used for input below 16 bytes, and on other machines for
 * all input. */
#include "http/h1_scan.h"
#include "base/letters.h"

#include <stdint.h>

#if defined(__SSE2__) && !defined(BB_SCAN_PLAIN)
#include <emmintrin.h>
#define BLOCKS 1
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(BB_SCAN_PLAIN)
#include <arm_neon.h>
#define BLOCKS 1
#else
#define BLOCKS 0
#endif

enum { ENDS_VALUE = 1, ENDS_TARGET = 2, ENDS_PATH = 4, ENDS_URI = ENDS_TARGET | ENDS_PATH };

static const uint8_t ends[256] = {
    [0x00 ... 0x08] = ENDS_VALUE | ENDS_URI,
    ['\t'] = ENDS_URI,
    [0x0a ... 0x1f] = ENDS_VALUE | ENDS_URI,
    [' '] = ENDS_URI,
    ['#'] = ENDS_URI,
    ['?'] = ENDS_PATH,
    [0x7f] = ENDS_VALUE | ENDS_URI,
};

const bool bb__is_tchar[256] = {
    ['!'] = true,         ['#'] = true,         ['$'] = true,         ['%'] = true, ['&'] = true,
    ['\''] = true,        ['*'] = true,         ['+'] = true,         ['-'] = true, ['.'] = true,
    ['^'] = true,         ['_'] = true,         ['`'] = true,         ['|'] = true, ['~'] = true,
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

static const char *scan_table(const char *at, const char *end, uint8_t kind)
{
    while (at < end && !(ends[(uint8_t)*at] & kind)) at++;
    return at;
}

#if BLOCKS && defined(__SSE2__)

typedef __m128i block;

static inline block load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)at);
}

static inline block equal(block bytes, char byte)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

/* Marks the bytes that are at most `byte`, as unsigned numbers. */
static inline block at_most(block bytes, char byte)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(byte)), bytes);
}

static inline block either(block left, block right)
{
    return _mm_or_si128(left, right);
}

static inline block except(block marks, block exceptions)
{
    return _mm_andnot_si128(exceptions, marks);
}

#define MASK_BITS 1 /* bits of a mask for each byte of a block */

static inline uint64_t mask(block marks)
{
    return (unsigned)_mm_movemask_epi8(marks);
}

#elif BLOCKS

typedef uint8x16_t block;

static inline block load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

static inline block equal(block bytes, char byte)
{
    return vceqq_u8(bytes, vdupq_n_u8((uint8_t)byte));
}

static inline block at_most(block bytes, char byte)
{
    return vcleq_u8(bytes, vdupq_n_u8((uint8_t)byte));
}

static inline block either(block left, block right)
{
    return vorrq_u8(left, right);
}

static inline block except(block marks, block exceptions)
{
    return vbicq_u8(marks, exceptions);
}

#define MASK_BITS 4

/* NEON has no movemask. Instead, narrowing by four bits leaves one nibble for each byte. */
static inline uint64_t mask(block marks)
{
    uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(marks), 4);
    return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0);
}

#endif

#if BLOCKS

static inline block marks_value(block bytes)
{
    return either(except(at_most(bytes, 0x1f), equal(bytes, '\t')), equal(bytes, 0x7f));
}

static inline block marks_target(block bytes)
{
    return either(either(at_most(bytes, ' '), equal(bytes, 0x7f)), equal(bytes, '#'));
}

static inline block marks_path(block bytes)
{
    return either(marks_target(bytes), equal(bytes, '?'));
}

/* Scans 16 bytes or more. The bytes after the last whole block are scanned in a block that overlaps it. */
static inline const char *scan_blocks(const char *at, const char *end, block (*marks)(block))
{
    for (; end - at >= 16; at += 16) {
        uint64_t found = mask(marks(load(at)));
        if (found) return at + __builtin_ctzll(found) / MASK_BITS;
    }
    if (at == end) return end;
    uint64_t found = mask(marks(load(end - 16))) >> (16 - (end - at)) * MASK_BITS;
    return found ? at + __builtin_ctzll(found) / MASK_BITS : end;
}

#define SCAN(at, end, marks, kind)                                                                           \
    ((end) - (at) >= 16 ? scan_blocks(at, end, marks) : scan_table(at, end, kind))

#else
#define SCAN(at, end, marks, kind) scan_table(at, end, kind)
#endif

const char *bb__scan_value(const char *at, const char *end)
{
    return SCAN(at, end, marks_value, ENDS_VALUE);
}

const char *bb__scan_target(const char *at, const char *end)
{
    return SCAN(at, end, marks_target, ENDS_TARGET);
}

const char *bb__scan_path(const char *at, const char *end)
{
    return SCAN(at, end, marks_path, ENDS_PATH);
}

const char *bb__scan_token(const char *at, const char *end)
{
    while (at < end && bb__is_tchar[(uint8_t)*at]) at++;
    return at;
}

bool bb__is_word(const char *at, size_t len, const char *word)
{
    for (size_t i = 0; i < len; i++) {
        char folded = bb__lower(at[i]);
        if (folded != word[i] || folded == '\0') return false;
    }
    return word[len] == '\0';
}
