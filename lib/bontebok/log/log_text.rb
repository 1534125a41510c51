# frozen_string_literal: true

module Bontebok
  # Makes any text safe for the log. The result is UTF-8 without control characters, so a client cannot control the
  # terminal that shows the log. Text from a client is binary: each byte beyond ASCII becomes \xNN. Newlines stay,
  # because messages of exceptions have several lines. The format indents or escapes them, so a client forges no entry.
  module LogText
    # The longest text, in characters.
    LONGEST = 4096
    # Some programs that show a log take U+2028 and U+2029 for line ends.
    HARMFUL = /[[:cntrl:]\u2028\u2029&&[^\n]]/

    class << self
      def clean(text)
        text = String.new(text.to_s)
        rest = text.size - LONGEST
        text = text[0, LONGEST] if rest.positive?
        text = unicode(text).scrub { |bytes| hex(bytes) }.gsub(HARMFUL) { |character| hex(character) }
        rest.positive? ? "#{text}... #{rest} more" : text
      end

      private

      # A text that is invalid in its own encoding is read as UTF-8.
      def unicode(text)
        text.encode(Encoding::UTF_8, fallback: ->(character) { hex(character) })
      rescue EncodingError
        text.force_encoding(Encoding::UTF_8)
      end

      def hex(bytes)
        bytes.each_byte.map { |byte| format('\x%02x', byte) }.join
      end
    end
  end
end
