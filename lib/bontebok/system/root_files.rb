# frozen_string_literal: true

module Bontebok
  # Files that only root can change. A process that stays root must not execute code of other users.
  module RootFiles
    # A file of this mode can be changed by its group or by all users.
    WRITABLE = 0o022

    class << self
      # True if only root can change the file, or the names in the directory, and where the path leads. Raises
      # SystemCallError.
      def own?(path)
        File.realpath(path) # fails if the links make a circle
        leads_to_roots?(File.expand_path(path), sticky: false)
      end

      # The path and all its directories.
      def ways(path)
        parent = File.dirname(path)
        parent == path ? [path] : [path, *ways(parent)]
      end

      private

      # sticky: as for #roots?.
      def leads_to_roots?(path, sticky:)
        *above, last = ways(path).reverse
        above.all? { |way| roots?(way, sticky: true) } && roots?(last, sticky: sticky)
      end

      # sticky: a directory with the sticky bit may be writable. Nobody can replace root's files in it, only add files.
      def roots?(way, sticky:)
        stat = File.lstat(way)
        return false unless stat.uid.zero?

        if stat.symlink?
          leads_to_roots?(File.expand_path(File.readlink(way).b, File.dirname(way).b), sticky: sticky)
        else
          stat.mode.nobits?(WRITABLE) || (sticky && stat.directory? && stat.sticky?)
        end
      end
    end
  end
end
