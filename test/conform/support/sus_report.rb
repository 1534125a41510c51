# frozen_string_literal: true

module Conform
  # The output of `sus --verbose`, the test program of socketry's projects, and what it means. A suite can pass although
  # it did not test everything: a test was skipped, or found that the server does not offer a feature.
  class SusReport
    # The line that counts the results. The suite's summary begins there.
    COUNTS = /^(?:\d+ \w+ )+out of (\d+) total/
    # Lines with information begin with this sign.
    MISSING = /^\s*ℹ (.*not supported.*)$/i
    SKIPPED = /^(?:\d+ \w+ )*?(\d+) skipped/

    attr_reader :text

    # success: the exit status of sus was 0.
    def initialize(text, success)
      @text = text
      @success = success
    end

    def passed? = faults.empty?

    # The suite's own summary; the whole output if there is none.
    def closing_lines
      start = @text.index(COUNTS)
      start ? @text[start..] : @text
    end

    def verdict
      passed? ? "rack-conform: all #{total} tests passed" : "rack-conform: #{faults.join("; ")}"
    end

    private

    def total = @text[COUNTS, 1].to_i

    def faults
      return ["the suite ran no test"] if total.zero?

      [("tests failed" unless @success), ("#{@text[SKIPPED, 1]} skipped" if @text.match?(SKIPPED)),
       *@text.scan(MISSING).flatten].compact
    end
  end
end
