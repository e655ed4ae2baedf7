// Q6_K for AVX2: 6 bits in 128 + 64 bytes, less 32; sixteen 8-bit scales, each for 16 weights; d. Per block of
// 256 weights ggml adds 8 integer lanes, scaled into float lanes that run along the row.
#if defined(GANNET_X86_KERNELS)
#include "kernels/avx2_kernels.h"

namespace gannet::avx2 {
namespace {

struct alignas(64) Packed {
    std::int8_t quants[256];  // groups 0 and 1 of 32 woven, 2 and 3, 4 and 5, 6 and 7
    std::int16_t sums[16];    // of 16 quants each
    float d;
};

std::size_t packed_bytes(std::int64_t columns) {
    return static_cast<std::size_t>(columns / 256) * sizeof(Packed);
}

void pack(const void* quantized, std::int64_t columns, std::byte* packed) {
    const auto* from = static_cast<const BlockQ8K*>(quantized);
    auto* to = reinterpret_cast<Packed*>(packed);
    for (std::int64_t i = 0; i < columns / 256; i++) {
        for (int j = 0; j < 256; j += 64) weave(from[i].quants + j, from[i].quants + j + 32, to[i].quants + j);
        std::memcpy(to[i].sums, from[i].sums, sizeof to[i].sums);
        to[i].d = from[i].d;
    }
}

struct Weights {
    Woven first;   // groups 0 and 1 of four
    Woven second;  // groups 2 and 3
};

// Bits 4 and 5 of weights: of a group in the even words bits 0 and 1, in the odd words bits 2 and 3. One table
// serves both and is cheaper than shifts.
inline __m256i upper_bits(__m256i v) {
    const __m256i which = _mm256_set1_epi32(0x0C0C0303);
    const __m256i moved =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0x10, 0x20, 0x30, 0x10, 0, 0, 0, 0x20, 0, 0, 0, 0x30, 0, 0, 0));
    return _mm256_shuffle_epi8(moved, _mm256_and_si256(v, which));
}

// 128 weights, not less 32 yet.
inline Weights unpack(const BlockQ6K& x, int half) {
    const __m256i nibble = _mm256_set1_epi8(15);
    const Woven low = weave(load(x.low + 64 * half), load(x.low + 64 * half + 32));
    const __m256i high = load(x.high + 32 * half);
    const Woven two = {high, swap_words(high)};
    const Woven next = {_mm256_srli_epi16(two.straight, 4), _mm256_srli_epi16(two.crossed, 4)};
    const auto after = [&](__m256i v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble); };
    return {{_mm256_or_si256(_mm256_and_si256(low.straight, nibble), upper_bits(two.straight)),
             _mm256_or_si256(_mm256_and_si256(low.crossed, nibble), upper_bits(two.crossed))},
            {_mm256_or_si256(after(low.straight), upper_bits(next.straight)),
             _mm256_or_si256(after(low.crossed), upper_bits(next.crossed))}};
}

// Scales 0 to 15 as the sums take them: of two woven groups the even two in the lower lanes, the odd in the upper.
inline __m256i in_pairs(__m128i scales) {
    const __m128i even_then_odd = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    return _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales, even_then_odd));
}

template <int N>
struct DotsQ6K {
    const Packed* y[N];
    __m256 sum[N];

    void add(const BlockQ6K& x, std::int64_t i) {
        const __m128i scales = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x.scales));
        const __m256i pairs = in_pairs(scales);
        const __m256i spread[4] = {_mm256_shuffle_epi32(pairs, 0x00), _mm256_shuffle_epi32(pairs, 0x55),
                                   _mm256_shuffle_epi32(pairs, 0xAA), _mm256_shuffle_epi32(pairs, 0xFF)};
        __m256i lanes[N];
        for (int half = 0; half < 2; half++) {
            const Weights w = unpack(x, half);
            for (int c = 0; c < N; c++) {
                const std::int8_t* v = y[c][i].quants + 128 * half;
                // Four products of 63 x 127 fit 16 bits.
                const __m256i more =
                    _mm256_add_epi32(_mm256_madd_epi16(sums_of_products(w.first, v), spread[2 * half]),
                                     _mm256_madd_epi16(sums_of_products(w.second, v + 64), spread[2 * half + 1]));
                lanes[c] = half == 0 ? more : _mm256_add_epi32(lanes[c], more);
            }
        }
        const __m256i in_order = _mm256_cvtepi8_epi16(scales);
        const float d = half_to_float(x.d);
        for (int c = 0; c < N; c++) {
            const __m256i excess = _mm256_slli_epi32(_mm256_madd_epi16(load(y[c][i].sums), in_order), 5);
            const __m256 whole = _mm256_cvtepi32_ps(_mm256_sub_epi32(lanes[c], excess));
            sum[c] = _mm256_fmadd_ps(_mm256_set1_ps(y[c][i].d * d), whole, sum[c]);
        }
    }

    static void multiply(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                         float* const* out) {
        DotsQ6K dots;
        for (int c = 0; c < N; c++) dots.y[c] = reinterpret_cast<const Packed*>(packed[c]);
        begin_reading(row_at(rows, begin));
        for (std::int64_t r = begin; r < end; r++) {
            const auto* x = reinterpret_cast<const BlockQ6K*>(row_at(rows, r));
            for (int c = 0; c < N; c++) dots.sum[c] = _mm256_setzero_ps();
            for (std::int64_t i = 0; i < rows.columns / 256; i++) {
                read_ahead(reinterpret_cast<const std::byte*>(x + i), sizeof *x);
                dots.add(x[i], i);
            }
            for (int c = 0; c < N; c++) out[c][r] = sum8(dots.sum[c]);
        }
    }
};

void multiply(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out) {
    DotsQ6K<1>::multiply(rows, begin, end, &packed, &out);
}

}  // namespace

const FastKernel kQ6K = {GGML_TYPE_Q6_K, packed_bytes, pack, multiply, multiply_by_fours<DotsQ6K>};

}  // namespace gannet::avx2
#endif
