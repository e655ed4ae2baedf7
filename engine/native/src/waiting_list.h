// Predicted experts that are not resident and not being read yet, best first.
//
// Pure policy. An entry costs nothing until an idle I/O thread takes it, so a prediction that a
// better one overtakes, or whose layer starts first, was never wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "residency.h"

namespace gannet {

struct Predicted {
    Key key = 0;
    std::uint32_t layer = 0;
    std::uint32_t distance = 1;  // layers ahead of the one that predicted it
    std::uint32_t rank = 0;      // 0 is the router's first choice
    double probability = 0.0;    // that the layer will select it, 0 to 1
    double priority = 0.0;       // probability, less for a layer that runs later
    bool resident = false;       // was in memory, or on its way, when predicted: costs no read
};

class WaitingList {
  public:
    // Adds or, when the key waits already, replaces: a later prediction knows more.
    void add(const Predicted& p);
    // Takes the entry of greatest priority among those at least `bar` probable.
    bool take_best(double bar, Predicted& out);
    // How many are at least `bar` probable.
    std::size_t worth_reading(double bar) const;
    void remove_layer(std::uint32_t layer);
    void clear() { entries_.clear(); }
    std::size_t size() const { return entries_.size(); }

  private:
    std::vector<Predicted> entries_;
};

}  // namespace gannet
