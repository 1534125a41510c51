# frozen_string_literal: true

module Bontebok
  # Makes any text fit for the log: UTF-8 in which nothing reaches the terminal that shows it, or begins a line of its
  # own there. What a client sent is bytes without an encoding: of those only ASCII stays as it is. Newlines stay, for
  # an application's messages: LogFormats see to it that they end no entry.
  module LogText
    # Characters.
    LONGEST = 4096
    # The last two are line ends to some who show a log.
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

      # What its own encoding does not make sense of may be UTF-8 that somebody has mislabelled.
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
