# frozen_string_literal: true

require_relative "../../system/file_name"
require_relative "../../system/working_directory"

module Bontebok
  module OptionTypes
    # Directories that are served: an Array, one directory, or "none". On the command line, the option is given once for
    # each directory, because a name may have spaces. A relative directory begins in the working directory's name, which
    # may be a link: a worker that loads the application later opens the directory of the release that it loads.
    class Directories
      NONE = "none"
      NAME = /\A[^\0\n]+\z/

      # max: bytes of all directories together, with a newline between two of them.
      def initialize(max)
        @max = max
      end

      def metavar
        "DIR"
      end

      def read(value)
        directories = (Array(value) - [NONE]).map { |name| directory(name) }
        directories.join("\n").bytesize > @max ? raise(Invalid, wanted) : directories.freeze
      end

      def show(directories)
        directories.empty? ? NONE : directories.join(" ")
      end

      private

      def directory(name)
        raise Invalid, wanted unless name.is_a?(String) && NAME.match?(name.b)

        FileName.absolute(name, (WorkingDirectory.name unless name.b.start_with?("/"))).freeze
      rescue ArgumentError # ~name, and there is no such user
        raise Invalid, wanted
      end

      def wanted
        "directories of at most #{@max} bytes in all"
      end
    end
  end
end
