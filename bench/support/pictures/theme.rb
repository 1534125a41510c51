# frozen_string_literal: true

module Bench
  module Pictures
    # The colours of a picture. series: the colours of servers, ours first; their order is the order in recorded.json.
    Theme = Struct.new(:paper, :ink, :faint, :grid, :series, keyword_init: true)

    Theme::LIGHT = Theme.new(paper: "#ffffff", ink: "#1f2328", faint: "#59636e", grid: "#d1d9e0",
                             series: ["#0550ae", "#bc4c00", "#cf222e", "#6e7781", "#8250df"]).freeze
    Theme::DARK = Theme.new(paper: "#0d1117", ink: "#f0f6fc", faint: "#9198a1", grid: "#3d444d",
                            series: ["#58a6ff", "#f0883e", "#ff7b72", "#9ea7b1", "#bc8cff"]).freeze
  end
end
