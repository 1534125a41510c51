# frozen_string_literal: true

module Bontebok
  # The format of the log for programs: each entry is one line with a JSON object (RFC 8259), in ASCII. Does not use the
  # library json, because applications change that library's methods.
  module JsonFormat
    # Maximum size of a line, in bytes. LogStream may put a newline before the line, to end a line that was cut. Line
    # and newline together have at most PIPE_BUF bytes, so a pipe does not mix the line with lines of other processes.
    LONGEST = 4095
    ESCAPES = { '"' => '\"', "\\" => "\\\\", "\n" => '\n' }.freeze

    class << self
      # If the entry is too long, its longest texts are cut.
      def line(entry)
        length = LONGEST
        length /= 2 until (text = "#{object(entry, length)}\n").bytesize <= LONGEST
        text
      end

      private

      def object(entry, length)
        fields = entry.to_h
        fault = fields.delete(:fault)
        fields[:exception] = exception(fault) if fault
        value(fields, length)
      end

      def exception(fault)
        { class: fault.class_name, message: fault.message, backtrace: fault.backtrace, causes: fault.causes }
      end

      def value(value, length)
        case value
        when nil, Integer then value.nil? ? "null" : value.to_s
        when Array then "[#{value.map { |item| value(item, length) }.join(',')}]"
        when Hash then "{#{value.map { |key, item| "\"#{key}\":#{value(item, length)}" }.join(',')}}"
        else string(value.to_s, length)
        end
      end

      def string(text, length)
        text = "#{text[0, length]}..." if text.size > length
        "\"#{text.gsub(/["\\]|[^ -~]/) { |character| ESCAPES[character] || escape(character) }}\""
      end

      # The character as escaped UTF-16 code units (RFC 8259 7).
      def escape(character)
        character.encode(Encoding::UTF_16BE).unpack("n*").map { |unit| format('\u%04x', unit) }.join
      end
    end
  end
end
