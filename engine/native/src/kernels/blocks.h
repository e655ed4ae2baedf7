// ggml's blocks of quantized numbers, as files and vectors hold them.
#pragma once

#include <cstdint>

namespace gannet {

struct BlockQ4K {
    std::uint16_t d;
    std::uint16_t dmin;
    std::uint8_t scales[12];
    std::uint8_t quants[128];
};
static_assert(sizeof(BlockQ4K) == 144);

struct BlockQ6K {
    std::uint8_t low[128];
    std::uint8_t high[64];
    std::int8_t scales[16];
    std::uint16_t d;
};
static_assert(sizeof(BlockQ6K) == 210);

struct BlockQ80 {  // weights, and ggml's quantized vector for them
    std::uint16_t d;
    std::int8_t quants[32];
};
static_assert(sizeof(BlockQ80) == 34);

struct BlockMxfp4 {
    std::uint8_t exponent;     // E8M0; the 4-bit numbers count as twice their value, so it is less one
    std::uint8_t numbers[16];  // E2M1: i in the low nibbles, i + 16 in the high ones
};
static_assert(sizeof(BlockMxfp4) == 17);

struct BlockQ8K {  // ggml's quantized vector
    float d;
    std::int8_t quants[256];
    std::int16_t sums[16];  // of 16 quants each
};
static_assert(sizeof(BlockQ8K) == 292);

}  // namespace gannet
