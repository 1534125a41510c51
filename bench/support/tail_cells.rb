# frozen_string_literal: true

module Bench
  # The requests of bench/tail to the application tail.ru.
  module TailCells
    # loads: { name of the load => arguments of the load tool }. "70" has nil, because its rate depends on the result of
    # "full".
    Cell = Struct.new(:work, :threads, keyword_init: true) do
      def to_s = "#{work}-#{threads}"
      def path = { "compute" => "/burn/1", "large" => "/large", "stream" => "/stream", "lock" => "/" }.fetch(work)
      def also = work == "compute" ? ["--also", "0.5:/burn/2"] : []
      # Durations of each kind of request, as multiples of the mean.
      def shares = work == "compute" ? [2 / 3.0, 4 / 3.0] : [1]
      # Paths that are requested once before the measurement.
      def before = work == "lock" ? ["/lock"] : []

      def loads
        return { "full" => [], "70" => nil } unless work == "lock"

        asked = ["--rate", 200, "--poisson"]
        { "kept" => asked, "new" => [*asked, "--close"] }
      end
    end

    module_function

    # only: beginnings of cell names; nil: all cells.
    def all(threads, only)
      cells = %w[compute large stream lock].product(threads)
                                           .map { |work, count| Cell.new(work: work, threads: count) }
      cells.select { |cell| only.nil? || only.any? { |beginning| cell.to_s.start_with?(beginning) } }
    end
  end
end
