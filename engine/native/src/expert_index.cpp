#include "expert_index.h"

#include <algorithm>
#include <stdexcept>

namespace gannet {

ExpertIndex::ExpertIndex(std::vector<LayerSpec> layers) : layers_(std::move(layers)) {
    std::stable_sort(layers_.begin(), layers_.end(),
                     [](const LayerSpec& a, const LayerSpec& b) { return a.block < b.block; });
    for (std::uint32_t l = 0; l < layers_.size(); l++) {
        const LayerSpec& layer = layers_[l];
        if (layer.parts.empty() || layer.parts.size() > kMaxParts || layer.n_experts == 0) {
            throw std::invalid_argument("block " + std::to_string(layer.block) + ": not one to three expert tensors");
        }
        n_experts_ = std::max(n_experts_, layer.n_experts);
        for (std::uint32_t p = 0; p < layer.parts.size(); p++) {
            by_name_[layer.parts[p].tensor] = {l, p};
        }
    }
}

std::optional<PartRef> ExpertIndex::find(const std::string& tensor) const {
    const auto it = by_name_.find(tensor);
    if (it == by_name_.end()) return std::nullopt;
    return it->second;
}

}  // namespace gannet
