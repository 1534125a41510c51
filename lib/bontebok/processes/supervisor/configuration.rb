# frozen_string_literal: true

require_relative "../../log/log_files"
require_relative "../restart_file"
require_relative "../../start_error"
require_relative "../../system/working_directory"

module Bontebok
  class Supervisor
    # The part of Supervisor that follows the configuration of a generation that takes effect.
    module Configuration
      private

      # The rest of the supervisor follows the new configuration. An error in one part must not end the supervisor.
      def configure
        [-> { WorkingDirectory.enter_again(@log) }, -> { LogFiles.renew(@config, @log) },
         -> { @log.configure(format: @config[:log_format], level: @config[:log_level]) },
         *[@masters, @adopted].map { |part| -> { part.configure(@config) } }, -> { watch_restart_file },
         *[@stop, @report, @hang_up, @control].map { |part| -> { part.configure(@config, @listeners) } },
         -> { @control.move }].each do |step|
          step.call
        rescue StandardError => e
          @log.error("a part of the new configuration has no effect", e)
        end
      end

      # A watch of the same file goes on, because a new watch would not see the changes since the last look. The first
      # watch of a program that is executed goes on with @seen, what the former program has seen.
      def watch_restart_file
        path = @config[:restart_file]&.then { |name| File.expand_path(name, @directory) }
        return if path == @watched && @restart_watch&.alive?

        @restart_watch&.kill
        @watched = path
        @restart_watch = path && RestartFile.watch(path, **@seen) { @events.push(:restart) }
        @seen = {}
      rescue ThreadError => e
        raise StartError, "no room for threads: #{e.message}"
      end
    end
  end
end
