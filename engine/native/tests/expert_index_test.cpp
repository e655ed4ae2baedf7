#include "expert_index.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "model_on_disk.h"

using gannet::ExpertIndex;
using gannet::LayerSpec;

TEST_CASE("tensors are found by the name that graphs use, with their layer in block order") {
    std::vector<LayerSpec> layers(2);
    layers[0] = {7, 4, {{"blk.7.up", 0, 0, 10}, {"blk.7.down", 0, 40, 20}}};
    layers[1] = {3, 8, {{"blk.3.up", 0, 200, 5}}};
    const ExpertIndex index(layers);
    REQUIRE(index.find("blk.7.down"));
    CHECK(index.find("blk.7.down")->layer == 1);
    CHECK(index.find("blk.7.down")->part == 1);
    CHECK(index.find("blk.3.up")->layer == 0);
    CHECK(index.layers()[0].block == 3);
    CHECK_FALSE(index.find("blk.3.down"));
    CHECK(index.n_experts() == 8);
    CHECK(index.n_layers() == 2);
}

TEST_CASE("a block with two sets of experts counts as two layers, in the order given") {
    std::vector<LayerSpec> layers(2);
    layers[0] = {1, 2, {{"first", 0, 0, 1}}};
    layers[1] = {1, 2, {{"second", 0, 2, 1}}};
    const ExpertIndex index(layers);
    CHECK(index.find("first")->layer == 0);
    CHECK(index.find("second")->layer == 1);
}

TEST_CASE("layers that no cache could hold are refused") {
    CHECK_THROWS_AS(ExpertIndex({LayerSpec{0, 4, {}}}), std::invalid_argument);
    CHECK_THROWS_AS(ExpertIndex({LayerSpec{0, 0, {{"up", 0, 0, 1}}}}), std::invalid_argument);
    CHECK_THROWS_AS(ExpertIndex({LayerSpec{0, 1, std::vector<gannet::PartSpec>(4)}}), std::invalid_argument);
}
