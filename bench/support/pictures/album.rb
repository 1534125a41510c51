# frozen_string_literal: true

require "json"
require_relative "bars"
require_relative "lines"
require_relative "phases"
require_relative "theme"

module Bench
  # The pictures of the README as SVG. Each is drawn from a part of recorded.json.
  module Pictures
    RECORDED = File.join(__dir__, "recorded.json")
    KINDS = { "bars" => Bars, "lines" => Lines, "phases" => Phases }.freeze

    module_function

    # { "deploy.svg" => its text, "deploy-dark.svg" => ... }
    def album(recorded = JSON.parse(File.read(RECORDED)))
      recorded.flat_map do |name, picture|
        kind = KINDS.fetch(picture.fetch("kind"))
        [["#{name}.svg", kind.new(picture, Theme::LIGHT).svg], ["#{name}-dark.svg", kind.new(picture, Theme::DARK).svg]]
      end.to_h
    end
  end
end
