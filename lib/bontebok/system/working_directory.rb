# frozen_string_literal: true

require_relative "file_name"
require_relative "../start_error"

module Bontebok
  # The directory where relative names of files begin, also for the application: that of the option Directory, or of the
  # start. It is known by the name under which it was entered, here or by the shell (PWD). The kernel only knows where
  # that led, while a link on the way, such as /srv/app/current, may lead to another release when the application is
  # loaded anew.
  module WorkingDirectory
    class << self
      # At once. place: who wants it. Raises StartError.
      def enter(path, place)
        name = FileName.absolute(path, self.name)
        Dir.chdir(path)
        @name = name
      rescue SystemCallError => e
        raise StartError,
              "#{place}: cannot change to the directory #{path}: #{SystemCallError.new(nil, e.errno).message}"
      end

      def name
        names = [@name, ENV.fetch("PWD", nil)]
        FileName.text(names.find { |name| name&.start_with?("/") && File.identical?(name, ".") } || Dir.pwd)
      end

      # Before anything can change, in the process that is to fork those which enter it again. Returns the name.
      def keep
        @kept = name
      end

      # The directory that the name leads to by now. Where there is none we stay.
      def enter_again(log)
        Dir.chdir(@kept) if @kept
      rescue SystemCallError => e
        log.error("cannot change to the directory #{@kept} again: #{SystemCallError.new(nil, e.errno).message}")
      end
    end
  end
end
