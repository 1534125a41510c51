# frozen_string_literal: true

module Lint
  # The functions of a C file with their lengths. The text must be formatted by clang-format, because this class does
  # not parse C. A line "{" opens a function's body. The next line that begins with "}" closes the body. The function's
  # head is directly above the body.
  class CFunctions
    include Enumerable

    # A line that is not part of a function's head: a blank line, the end of a statement or block, a directive, a
    # comment.
    NOT_HEAD = %r{\A\s*\z|[;\}]\s*\z|\A#|\*/\s*\z|\A\s*//}

    def initialize(lines)
      @lines = lines
    end

    # Yields the name, the number of the first line, and the count of lines from the head to the closing brace.
    def each
      @lines.each_index do |open|
        next unless @lines[open] == "{"

        first = head(open)
        close = (open...@lines.size).find { |index| @lines[index].start_with?("}") } || (@lines.size - 1)
        yield name(first, open), first + 1, close - first + 1
      end
    end

    private

    def head(open)
      first = open
      first -= 1 while first.positive? && !@lines[first - 1].match?(NOT_HEAD)
      first
    end

    def name(first, open)
      @lines[first...open].join(" ")[/(\w+)\s*\(/, 1] || "a function"
    end
  end
end
