# frozen_string_literal: true

require "io/console"

require_relative "../../system/encodings/output"

module Bontebok
  # Draws a text on a terminal again and again, in place of the text before. Each drawing is one write and clears only
  # what is left over, so nothing flickers.
  class Screen
    # Rows and columns of a terminal that does not know its size.
    SIZE = [24, 80].freeze
    # Back to the first line; to the end of the line, or of the screen, nothing is left.
    UP = "\e[%dA"
    REST_OF_LINE = "\e[K"
    REST = "\e[J"
    WHOLE = "\e[H\e[2J"
    private_constant(*constants)

    # Cuts the lines. One that the terminal breaks, or one that scrolls, could not be drawn over.
    def self.fit(out, lines)
      rows, columns = out.winsize.zip(SIZE).map { |size, usual| size.zero? ? usual : size }
      lines.first([rows - 1, 1].max).map { |line| cut(line, [columns - 1, 1].max) }
    end

    # A character that is not ASCII may take two columns.
    def self.cut(line, columns)
      return line[0, columns] if line.ascii_only?

      left = columns
      line.each_char.take_while { |char| (left -= char.ascii_only? ? 1 : 2) >= 0 }.join
    end
    private_class_method :cut

    def initialize(out)
      @out = out
      @drawn = 0
    end

    def draw(text)
      lines = Screen.fit(@out, text.lines(chomp: true))
      Output.write(@out, "\r#{back}#{lines.map { |line| "#{line}#{REST_OF_LINE}\n" }.join}#{REST}")
      @out.flush
      @drawn = lines.size
    end

    # After a change of its size, the terminal may have broken the lines. After a stop of this process (Ctrl-Z), other
    # programs have written.
    def forget
      @drawn = nil
    end

    private

    def back
      return WHOLE unless @drawn

      @drawn.positive? ? format(UP, @drawn) : ""
    end
  end
end
