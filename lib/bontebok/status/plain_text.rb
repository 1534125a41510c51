# frozen_string_literal: true

module Bontebok
  module Status
    # Makes any text safe for a terminal: one line of valid UTF-8 without control characters (also C1), without
    # characters that change the direction of the text or have no width, and not longer than the reader wants to see.
    # A worker or a client may have written the text.
    module PlainText
      PLAIN = /\A[ -~]*\z/
      # Control, format, private, surrogate and unassigned characters, and the separators of lines and paragraphs.
      HARMFUL = /[\p{C}\p{Zl}\p{Zp}]/
      # Characters that Unicode counts as letters, marks or symbols, and terminals show as nothing.
      INVISIBLE = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]/
      # The most bytes of a character in UTF-8.
      WIDEST = 4
      # Colours and the like (SGR).
      COLOUR = /\e\[[\d;:]*m/
      # These characters become "?" in a text of several lines. Marks that choose the form of a character may be there.
      STEERING = /[[:cntrl:]\u2028-\u202e\u2066-\u2069&&[^\n\t]]/
      private_constant :PLAIN, :HARMFUL, :INVISIBLE, :WIDEST, :COLOUR, :STEERING

      # longest: the largest number of characters of the result.
      def self.clean(text, longest)
        text = text.byteslice(0, (longest + 1) * WIDEST).force_encoding(Encoding::UTF_8)
        text = text.scrub("?").gsub(HARMFUL, "?").gsub(INVISIBLE, "?") unless text.ascii_only? && text.match?(PLAIN)
        text.size > longest ? "#{text[0, longest - 3]}..." : text
      end

      # For a part of a log: newlines and tabs stay, and the lines may be long. Colours are left out.
      def self.lines(text)
        text.dup.force_encoding(Encoding::UTF_8).scrub("?").gsub(COLOUR, "").gsub(STEERING, "?")
      end
    end
  end
end
