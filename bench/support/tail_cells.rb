# frozen_string_literal: true

module Bench
  # What bench/tail asks of the application tail.ru.
  module TailCells
    # loads: by its name, what the load tool is told; "70" depends on what "full" has shown.
    Cell = Struct.new(:work, :threads, keyword_init: true) do
      def to_s = "#{work}-#{threads}"
      def path = { "compute" => "/burn/1", "large" => "/large", "stream" => "/stream", "lock" => "/" }.fetch(work)
      def also = work == "compute" ? ["--also", "0.5:/burn/2"] : []
      # How long a request of each kind takes, times the mean.
      def shares = work == "compute" ? [2 / 3.0, 4 / 3.0] : [1]
      # Paths that are asked for once, before anything is measured.
      def before = work == "lock" ? ["/lock"] : []

      def loads
        return { "full" => [], "70" => nil } unless work == "lock"

        asked = ["--rate", 200, "--poisson"]
        { "kept" => asked, "new" => [*asked, "--close"] }
      end
    end

    module_function

    # only: beginnings of their names; nil: all.
    def all(threads, only)
      cells = %w[compute large stream lock].product(threads)
                                           .map { |work, count| Cell.new(work: work, threads: count) }
      cells.select { |cell| only.nil? || only.any? { |beginning| cell.to_s.start_with?(beginning) } }
    end
  end
end
