# frozen_string_literal: true

module Bench
  module_function

  # nil if there are no values.
  def median(values)
    return nil if values.empty?

    sorted = values.sort
    (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
  end
end
