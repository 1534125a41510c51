# frozen_string_literal: true

module Bontebok
  # Writes texts of the server to standard output and standard error. The bytes stay as they are. With Ruby's flag -E or
  # -U, Ruby would convert a text to the encoding of the stream, and raise an exception for a character that this
  # encoding does not have.
  module Output
    # Raises SystemCallError or IOError.
    def self.write(stream, text)
      stream.write(text.dup.force_encoding(stream.external_encoding || Encoding::UTF_8))
    end
  end
end
