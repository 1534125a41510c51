# frozen_string_literal: true

module Bontebok
  # Files that only root can change. A process that stays root must not execute code of other users.
  module RootFiles
    # A file of this mode can be changed by its group or by all users.
    WRITABLE = 0o022

    class << self
      # True if only root can change the file, or where the path leads. Raises SystemCallError.
      def own?(path)
        File.realpath(path) # fails if the links make a circle
        ways(File.expand_path(path)).all? { |way| roots?(way) }
      end

      private

      # In a directory with the sticky bit, nobody can replace the files of root.
      def roots?(way)
        stat = File.lstat(way)
        return false unless stat.uid.zero?
        return own?(File.expand_path(File.readlink(way), File.dirname(way))) if stat.symlink?

        stat.mode.nobits?(WRITABLE) || (stat.directory? && stat.sticky?)
      end

      # The path and all its directories.
      def ways(path)
        parent = File.dirname(path)
        parent == path ? [path] : [path, *ways(parent)]
      end
    end
  end
end
