# frozen_string_literal: true

require_relative "files"

module Lint
  # Checks that the core subtracts times only in bb__elapsed(). If `since` of another thread is later than this thread's
  # time, the result of a plain subtraction is huge.
  class Times
    NOW = /\bnow|\bread_at|\bbb__clock_\w+\(\)/
    SINCE = /\w*(?:since|began|progress|ready_at|asked_at|due_back)/
    SUBTRACTION = /(?:#{NOW}) - (?!\(uint64_t\))|[^,;] - [\w>.-]*\b#{SINCE}\b/

    def initialize(root)
      @root = root
    end

    def faults
      Files.glob(@root, "core/src/**/*.{c,h}").flat_map do |file|
        lines = lines_of(File.read(File.join(@root, file), encoding: "UTF-8"))
        lines.map { |number| "#{file}:#{number} subtracts times without bb__elapsed()" }
      end
    end

    private

    def lines_of(text)
      code = text.gsub(%r{/\*.*?\*/}m) { |comment| "\n" * comment.count("\n") }
      code.each_line.with_index(1).filter_map do |line, number|
        number if line.match?(SUBTRACTION) && !line.include?("return now > since ? now - since : 0;")
      end
    end
  end
end
