# frozen_string_literal: true

require_relative "file_name"
require_relative "../start_error"

module Bontebok
  # The directory where relative names of files begin, also for the application: the directory of the option Directory,
  # or the one in which the server was started. The server keeps the name by which the server or the shell (PWD) entered
  # the directory; the kernel keeps only the directory itself. If the name contains a link, such as /srv/app/current, it
  # may lead to another release when the application is loaded again.
  module WorkingDirectory
    class << self
      # Changes to the directory at once. place: where the option was set, for the message. Raises StartError.
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

      # Notes the name and returns it. Call it early, in the process that forks the processes that call .enter_again.
      def keep
        @kept = name
      end

      # Changes to the directory that the name leads to now. If there is no such directory, the process stays where it
      # is.
      def enter_again(log)
        Dir.chdir(@kept) if @kept
      rescue SystemCallError => e
        log.error("cannot change to the directory #{@kept} again: #{SystemCallError.new(nil, e.errno).message}")
      end
    end
  end
end
