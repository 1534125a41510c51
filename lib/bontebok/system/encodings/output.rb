# frozen_string_literal: true

module Bontebok
  # Writes texts of the server to standard output and standard error. The bytes stay as they are. With the flag -E or
  # -U, Ruby would convert a text to the stream's encoding, or raise an exception if it cannot.
  module Output
    class << self
      # Raises SystemCallError or IOError.
      def write(stream, text)
        stream.write(text.dup.force_encoding(stream.external_encoding || Encoding::UTF_8))
      end

      # For a command. If nobody reads the output any more, only the exit status tells the result. Returns the exit
      # status 0. Raises other SystemCallErrors.
      def show(text, stream = $stdout)
        write(stream, text)
        stream.flush
        0
      rescue Errno::EPIPE
        0
      end
    end
  end
end
