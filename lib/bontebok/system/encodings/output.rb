# frozen_string_literal: true

module Bontebok
  # Writes texts of the server to standard output and standard error. The bytes stay as they are. With the flag -E or
  # -U, Ruby would convert a text to the stream's encoding, or raise an exception if it cannot.
  module Output
    # Raises SystemCallError or IOError.
    def self.write(stream, text)
      stream.write(text.dup.force_encoding(stream.external_encoding || Encoding::UTF_8))
    end
  end
end
