// Predictions as tests make them.
#pragma once

#include "waiting_list.h"

namespace gannet {

inline Predicted predicted(Key key, std::uint32_t layer, std::uint32_t distance, double likelihood) {
    return {key, layer, distance, 0, likelihood, likelihood / distance, false};
}

}  // namespace gannet
