#include "row_kernel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cpu_library.h"
#include "dice.h"
#include "kernels/fast_kernels.h"

using namespace gannet;

namespace {

constexpr std::int64_t kRows = 13;

// Types that people's files have.
constexpr ggml_type kTypes[] = {GGML_TYPE_F32,  GGML_TYPE_F16,    GGML_TYPE_BF16,   GGML_TYPE_Q4_0, GGML_TYPE_Q5_0,
                                GGML_TYPE_Q8_0, GGML_TYPE_Q2_K,   GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K, GGML_TYPE_Q5_K,
                                GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS, GGML_TYPE_MXFP4};

std::vector<float> vector_of(const std::string& kind, std::int64_t n) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> x(static_cast<std::size_t>(n), 0.0F);
    for (std::size_t i = 0; i < x.size(); i++) {
        if (kind == "random") x[i] = normal(random);
        if (kind == "huge") x[i] = i % 2 == 0 ? 3e4F : -3e4F;
        if (kind == "tiny") x[i] = normal(random) * 1e-30F;
        if (kind == "one") x[i] = i == x.size() - 1 ? -7.0F : 0.0F;
    }
    return x;
}

std::vector<float> weights_of(std::int64_t n) {
    std::mt19937 random(6);
    std::normal_distribution<float> normal(0.0F, 0.5F);
    std::vector<float> w(static_cast<std::size_t>(n));
    for (float& v : w) v = normal(random);
    return w;
}

// Rows with room between them, as views have.
struct Matrix {
    std::vector<std::byte> bytes;
    Rows rows;

    Matrix(ggml_type type, std::int64_t columns, std::size_t gap = 32) {
        const std::size_t size = ggml_row_size(type, columns);
        bytes.resize((size + gap) * kRows + 64);
        rows = {bytes.data(), size + gap, columns};
        const std::vector<float> w = weights_of(columns * kRows);
        for (std::int64_t r = 0; r < kRows; r++) {
            ggml_quantize_chunk(type, w.data() + r * columns, row(r), 0, 1, columns, nullptr);
        }
    }
    std::byte* row(std::int64_t r) { return bytes.data() + static_cast<std::size_t>(r) * rows.stride; }
};

std::vector<float> with_ggml(const RowKernel& kernel, const Rows& rows, const std::vector<float>& x) {
    std::vector<std::byte> v(ggml_row_size(kernel.vector_type, rows.columns));
    if (kernel.quantize != nullptr)
        kernel.quantize(x.data(), v.data(), rows.columns);
    else
        std::memcpy(v.data(), x.data(), v.size());
    std::vector<float> out(kRows);
    for (std::int64_t r = 0; r < kRows; r++) {
        kernel.dot(static_cast<int>(rows.columns), &out[static_cast<std::size_t>(r)], 0,
                   rows.data + static_cast<std::size_t>(r) * rows.stride, 0, v.data(), 0, 1);
    }
    return out;
}

// In two ranges, as two threads share a matrix.
std::vector<float> with_ours(const RowKernel& kernel, const Rows& rows, const std::vector<float>& x) {
    ReadyVector ready;
    ready.set(kernel, x.data(), rows.columns);
    std::vector<float> out(kRows, -1.0F);
    multiply_rows(kernel, rows, 5, kRows, ready, out.data());
    CHECK(out[4] == -1.0F);
    multiply_rows(kernel, rows, 0, 5, ready, out.data());
    return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Q4K {
    ggml_fp16_t d, dmin;
    std::uint8_t scales[12];
    std::uint8_t quants[128];
};
struct Q6K {
    std::uint8_t low[128];
    std::uint8_t high[64];
    std::int8_t scales[16];
    ggml_fp16_t d;
};
struct Q8K {
    float d;
    std::int8_t quants[256];
    std::int16_t sums[16];
};

// One block as the format defines it, in whole numbers and doubles.
double block_product(const Q4K& w, const Q8K& v) {
    double sum = 0.0;
    for (int k = 0; k < 8; k++) {
        const auto* s = w.scales;
        const int scale = k < 4 ? s[k] & 63 : (s[k + 4] & 15) | (s[k - 4] >> 6) << 4;
        const int least = k < 4 ? s[k + 4] & 63 : (s[k + 4] >> 4) | (s[k] >> 6) << 4;
        int dot = 0;
        int total = 0;
        for (int i = 0; i < 32; i++) {
            const int pair = w.quants[k / 2 * 32 + i];
            const int q = k % 2 == 0 ? pair & 15 : pair >> 4;
            dot += q * v.quants[k * 32 + i];
            total += v.quants[k * 32 + i];
        }
        sum += static_cast<double>(ggml_fp16_to_fp32(w.d)) * v.d * scale * dot;
        sum -= static_cast<double>(ggml_fp16_to_fp32(w.dmin)) * v.d * least * total;
    }
    return sum;
}

// Every byte a quantizer could write, and those that none would.
void make_extreme(Q4K& block, int kind, Dice& random) {
    const float scales[] = {0.0F, 65504.0F, -65504.0F, 6e-8F, 1.0F};
    block.d = ggml_fp32_to_fp16(scales[random(5)]);
    block.dmin = ggml_fp32_to_fp16(scales[random(5)]);
    for (std::uint8_t& s : block.scales) s = kind == 0 ? 0 : kind == 1 ? 255 : static_cast<std::uint8_t>(random(256));
    for (std::uint8_t& q : block.quants) q = kind == 0 ? 0 : kind == 2 ? 255 : static_cast<std::uint8_t>(random(256));
}

void check_several(ggml_type type, std::int64_t columns) {
    RowKernel kernel;
    REQUIRE(RowKernel::find(type, kernel));
    if (kernel.fast == nullptr || kernel.fast->multiply_many == nullptr) return;  // a processor without one of ours
    Matrix m(type, columns);
    for (std::size_t n = 1; n <= 9; n++) {
        std::vector<ReadyVector> ready(n);
        std::vector<const std::byte*> vectors;
        std::vector<std::vector<float>> got(n, std::vector<float>(kRows, -1.0F));
        std::vector<std::vector<float>> alone;
        std::vector<float*> to;
        Dice random(static_cast<unsigned>(n));
        for (std::size_t i = 0; i < n; i++) {
            std::vector<float> x = vector_of(i % 3 == 2 ? "huge" : "random", columns);
            for (float& v : x) v *= static_cast<float>(random(100));
            ready[i].set(kernel, x.data(), columns);
            vectors.push_back(ready[i].data());
            to.push_back(got[i].data());
            alone.push_back(with_ggml(kernel, m.rows, x));
        }
        kernel.fast->multiply_many(m.rows, 5, kRows, vectors.data(), n, to.data());
        CHECK(got[n - 1][4] == -1.0F);
        kernel.fast->multiply_many(m.rows, 0, 5, vectors.data(), n, to.data());
        for (std::size_t i = 0; i < n; i++) CHECK(same_bits(alone[i], got[i]));
    }
}

// One 6-bit block as the format defines it, in whole numbers and doubles.
double block_product(const Q6K& w, const Q8K& v) {
    std::int64_t sum = 0;
    for (int i = 0; i < 256; i++) {
        const int half = i / 128;
        const int group = i / 32 % 4;
        const int at = i % 32;
        const int low = w.low[64 * half + 32 * (group % 2) + at] >> (group / 2 * 4) & 15;
        const int high = w.high[32 * half + at] >> (2 * group) & 3;
        sum += std::int64_t{w.scales[i / 16]} * ((low | high << 4) - 32) * v.quants[i];
    }
    return static_cast<double>(ggml_fp16_to_fp32(w.d)) * v.d * static_cast<double>(sum);
}

}  // namespace

TEST_CASE("products are ggml's to the bit, for every type, shape and vector") {
    for (const ggml_type type : kTypes) {
        CAPTURE(ggml_type_name(type));
        for (const std::int64_t blocks : {1, 2, 3, 11}) {
            const std::int64_t columns = 256 * blocks;
            RowKernel kernel;
            REQUIRE(RowKernel::find(type, kernel));
            Matrix m(type, columns);
            for (const char* kind : {"random", "huge", "tiny", "one", "zero"}) {
                CAPTURE(kind);
                const std::vector<float> x = vector_of(kind, columns);
                CHECK(same_bits(with_ggml(kernel, m.rows, x), with_ours(kernel, m.rows, x)));
            }
        }
    }
}

TEST_CASE("several vectors at once give the bits that each gives alone") {
    for (const ggml_type type : {GGML_TYPE_Q4_K, GGML_TYPE_Q6_K, GGML_TYPE_MXFP4}) {
        CAPTURE(ggml_type_name(type));
        for (const std::int64_t columns : {256, 768, 2816}) check_several(type, columns);
    }
    for (const std::int64_t columns : {32, 96, 352}) check_several(GGML_TYPE_MXFP4, columns);
}

TEST_CASE("a kernel of ours for 4 bits takes several vectors: prompts rely on it") {
    const FastKernel* fast = find_fast_kernel(GGML_TYPE_Q4_K);
    if (fast == nullptr) return;  // a processor without one of ours
    const bool takes_several = fast->multiply_many != nullptr;
    CHECK(takes_several);
}

TEST_CASE("products are what the weights say, as far as their quantization goes") {
    for (const ggml_type type : kTypes) {
        CAPTURE(ggml_type_name(type));
        const std::int64_t columns = 512;
        RowKernel kernel;
        REQUIRE(RowKernel::find(type, kernel));
        Matrix m(type, columns);
        const std::vector<float> x = vector_of("random", columns);
        const std::vector<float> got = with_ours(kernel, m.rows, x);
        std::vector<float> w(static_cast<std::size_t>(columns));
        for (std::int64_t r = 0; r < kRows; r++) {
            if (type == GGML_TYPE_F32)
                std::memcpy(w.data(), m.row(r), w.size() * sizeof(float));
            else
                ggml_get_type_traits(type)->to_float(m.row(r), w.data(), columns);
            double exact = 0.0;
            double bound = 1e-3;  // the vector's own rounding: half a step of its largest value's 127th
            for (std::size_t i = 0; i < w.size(); i++) {
                exact += static_cast<double>(w[i]) * x[i];
                bound += std::abs(w[i]) * 4.0 / 127.0 * 0.5;
            }
            CHECK(std::abs(got[static_cast<std::size_t>(r)] - exact) <= bound);
        }
    }
}

TEST_CASE("4-bit products hold at the format's limits: against ggml to the bit, against whole numbers closely") {
    static_assert(sizeof(Q4K) == 144 && sizeof(Q8K) == 292);
    Dice random(9);
    RowKernel kernel;
    REQUIRE(RowKernel::find(GGML_TYPE_Q4_K, kernel));
    for (int round = 0; round < 60; round++) {
        const std::int64_t blocks = 1 + round % 5;
        Matrix m(GGML_TYPE_Q4_K, 256 * blocks, 0);
        for (std::int64_t r = 0; r < kRows; r++) {
            for (std::int64_t b = 0; b < blocks; b++) {
                Q4K block;
                make_extreme(block, round % 4, random);
                std::memcpy(m.row(r) + b * 144, &block, sizeof block);
            }
        }
        for (const char* kind : {"random", "huge", "one", "zero"}) {
            const std::vector<float> x = vector_of(kind, 256 * blocks);
            const std::vector<float> got = with_ours(kernel, m.rows, x);
            CHECK(same_bits(with_ggml(kernel, m.rows, x), got));
            std::vector<Q8K> v(static_cast<std::size_t>(blocks));
            kernel.quantize(x.data(), v.data(), 256 * blocks);
            for (std::int64_t r = 0; r < kRows; r++) {
                double exact = 0.0;
                double size = 0.0;
                double step = 0.0;
                for (std::int64_t b = 0; b < blocks; b++) {
                    Q4K block;
                    std::memcpy(&block, m.row(r) + b * 144, sizeof block);
                    exact += block_product(block, v[static_cast<std::size_t>(b)]);
                    step = std::max(step, std::abs(static_cast<double>(v[static_cast<std::size_t>(b)].d)));
                    size += std::abs(static_cast<double>(ggml_fp16_to_fp32(block.d)));
                    size += std::abs(static_cast<double>(ggml_fp16_to_fp32(block.dmin)));
                }
                const double bound = 1e-6 * size * 63 * 15 * 127 * 256 * step + 1e-6;
                CHECK(std::abs(got[static_cast<std::size_t>(r)] - exact) <= bound);
            }
        }
    }
}

TEST_CASE("6-bit products are near what whole numbers say, whatever the bytes") {
    static_assert(sizeof(Q6K) == 210);
    Dice random(11);
    RowKernel kernel;
    REQUIRE(RowKernel::find(GGML_TYPE_Q6_K, kernel));
    for (const std::int64_t blocks : {1, 2, 5}) {
        Matrix m(GGML_TYPE_Q6_K, 256 * blocks, 0);
        std::vector<Q6K> weights(static_cast<std::size_t>(blocks * kRows));
        for (Q6K& block : weights) {
            for (std::uint8_t& q : block.low) q = static_cast<std::uint8_t>(random(256));
            for (std::uint8_t& q : block.high) q = static_cast<std::uint8_t>(random(256));
            for (std::int8_t& q : block.scales) q = static_cast<std::int8_t>(static_cast<int>(random(256)) - 128);
            block.d = ggml_fp32_to_fp16(0.25F);
        }
        std::memcpy(m.row(0), weights.data(), weights.size() * sizeof(Q6K));
        const std::vector<float> x = vector_of("random", 256 * blocks);
        const std::vector<float> got = with_ours(kernel, m.rows, x);
        std::vector<Q8K> v(static_cast<std::size_t>(blocks));
        kernel.quantize(x.data(), v.data(), 256 * blocks);
        for (std::int64_t r = 0; r < kRows; r++) {
            double exact = 0.0;
            for (std::int64_t b = 0; b < blocks; b++) {
                exact +=
                    block_product(weights[static_cast<std::size_t>(r * blocks + b)], v[static_cast<std::size_t>(b)]);
            }
            CHECK(std::abs(got[static_cast<std::size_t>(r)] - exact) <= 1e-5 * std::abs(exact) + 0.5);
        }
    }
}

TEST_CASE("a kernel that this processor has passes its trial: none is dropped in silence") {
    for (const ggml_type type : kTypes) {
        CAPTURE(ggml_type_name(type));
        RowKernel kernel;
        REQUIRE(RowKernel::find(type, kernel));
        CHECK(kernel.fast == find_fast_kernel(type));
    }
}

TEST_CASE("6-bit and 8-bit products are ggml's to the bit for every byte a file can hold") {
    Dice random(10);
    const float scales[] = {0.0F, 65504.0F, -65504.0F, 6e-8F, 1.0F};
    for (const ggml_type type : {GGML_TYPE_Q6_K, GGML_TYPE_Q8_0}) {
        CAPTURE(ggml_type_name(type));
        RowKernel kernel;
        REQUIRE(RowKernel::find(type, kernel));
        const auto block = static_cast<std::int64_t>(ggml_type_size(type));
        const std::int64_t scale_at = type == GGML_TYPE_Q6_K ? block - 2 : 0;
        for (int round = 0; round < 40; round++) {
            const std::int64_t columns = ggml_blck_size(type) * (1 + round % 5);
            Matrix m(type, columns, 0);
            for (std::int64_t r = 0; r < kRows; r++) {
                const auto row = static_cast<std::int64_t>(ggml_row_size(type, columns));
                for (std::int64_t i = 0; i < row; i++) {
                    const int byte = round % 4 == 0 ? 0 : round % 4 == 1 ? 255 : static_cast<int>(random(256));
                    m.row(r)[i] = static_cast<std::byte>(byte);
                }
                for (std::int64_t b = 0; b < row; b += block) {
                    const ggml_fp16_t d = ggml_fp32_to_fp16(scales[random(5)]);
                    std::memcpy(m.row(r) + b + scale_at, &d, sizeof d);
                }
            }
            for (const char* kind : {"random", "huge", "one", "zero"}) {
                const std::vector<float> x = vector_of(kind, columns);
                CHECK(same_bits(with_ggml(kernel, m.rows, x), with_ours(kernel, m.rows, x)));
            }
        }
    }
}

TEST_CASE("MXFP4 products are ggml's to the bit for every byte a file can hold, a last block alone included") {
    Dice random(12);
    RowKernel kernel;
    REQUIRE(RowKernel::find(GGML_TYPE_MXFP4, kernel));
    for (int round = 0; round < 60; round++) {
        const std::int64_t columns = 32 * (1 + round % 7);
        Matrix m(GGML_TYPE_MXFP4, columns, 0);
        for (std::int64_t r = 0; r < kRows; r++) {
            for (std::int64_t b = 0; b < columns / 32; b++) {
                std::byte* block = m.row(r) + b * 17;
                // Exponents from the smallest, which are denormal, to those whose sums are still finite.
                *block = static_cast<std::byte>(round % 3 == 0 ? random(4) : random(220));
                for (int i = 1; i < 17; i++) block[i] = static_cast<std::byte>(round % 4 == 1 ? 255 : random(256));
            }
        }
        for (const char* kind : {"random", "huge", "one", "zero"}) {
            const std::vector<float> x = vector_of(kind, columns);
            CHECK(same_bits(with_ggml(kernel, m.rows, x), with_ours(kernel, m.rows, x)));
        }
    }
}

TEST_CASE("a type that ggml has no dot product for is not ours to multiply") {
    RowKernel kernel;
    CHECK_FALSE(RowKernel::find(GGML_TYPE_I32, kernel));
}
