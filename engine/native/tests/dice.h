// Numbers that look random and are the same in every run.
#pragma once

#include <cstdint>
#include <random>

namespace gannet {

class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    // From 0 to sides - 1.
    std::uint32_t operator()(std::uint32_t sides) { return static_cast<std::uint32_t>(engine_()) % sides; }

  private:
    std::mt19937 engine_;
};

}  // namespace gannet
