# frozen_string_literal: true

require_relative "error_text"
require_relative "file_name"
require_relative "../start_error"

module Bontebok
  # The working directory of the server and of the application: that of the option `directory`, or the directory in
  # which the server was started. This module keeps the directory's name from the option or from the shell (PWD). It may
  # contain a link, such as /srv/app/current, which may lead to another release when the application is loaded again.
  module WorkingDirectory
    class << self
      # Changes to the directory at once. place: the source of the option's value, for the message. Raises StartError.
      def enter(path, place)
        name = FileName.absolute(path, self.name)
        Dir.chdir(path)
        @name = name
      rescue SystemCallError, ArgumentError => e # ~name, and there is no such user
        text = e.is_a?(SystemCallError) ? ErrorText.of(e) : FileName.text(e.message)
        raise StartError, "#{place}: cannot change to the directory #{path}: #{text}"
      end

      def name
        names = [@name, ENV.fetch("PWD", nil)]
        FileName.text(names.find { |name| name&.start_with?("/") && File.identical?(name, ".") } || Dir.pwd)
      end

      # Keeps the current name for .enter_again, and returns it. Called in the supervisor before it forks.
      def keep
        @kept = name
      end

      # Changes to the directory that has the kept name now. If there is none, the working directory does not change.
      def enter_again(log)
        Dir.chdir(@kept) if @kept
      rescue SystemCallError => e
        log.error("cannot change to the directory #{@kept} again: #{ErrorText.of(e)}")
      end
    end
  end
end
