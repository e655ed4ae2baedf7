#include "waiting_list.h"

#include <algorithm>

namespace gannet {
void WaitingList::add(const Predicted& p) {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Predicted& e) { return e.key == p.key; });
    if (it != entries_.end()) {
        *it = p;
    } else {
        entries_.push_back(p);
    }
}

bool WaitingList::take_best(double bar, Predicted& out) {
    auto best = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        if (it->probability < bar) continue;
        if (best == entries_.end() || it->priority > best->priority) best = it;
    }
    if (best == entries_.end()) return false;
    out = *best;
    entries_.erase(best);
    return true;
}

std::size_t WaitingList::worth_reading(double bar) const {
    const auto worth = [bar](const Predicted& e) { return e.probability >= bar; };
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), worth));
}

void WaitingList::remove_layer(std::uint32_t layer) {
    const auto gone = [layer](const Predicted& e) { return e.layer == layer; };
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), gone), entries_.end());
}

}  // namespace gannet
