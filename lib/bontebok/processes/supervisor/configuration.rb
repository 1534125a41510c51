# frozen_string_literal: true

require_relative "../restart_file"

module Bontebok
  class Supervisor
    # The part of Supervisor that follows the configuration of a generation that takes effect.
    module Configuration
      private

      # The rest of the supervisor follows the new configuration. An error in one part must not end the supervisor.
      def configure
        [-> { WorkingDirectory.enter_again(@log) }, -> { LogFiles.renew(@config, @log) },
         -> { @log.configure(format: @config[:log_format], level: @config[:log_level]) },
         *[@masters, @adopted, @drain_delay].map { |part| -> { part.configure(@config) } },
         -> { watch_restart_file }, -> { move_control }].each do |step|
          step.call
        rescue StandardError => e
          @log.error("a part of the new configuration has no effect", e)
        end
      end

      def watch_restart_file
        @restart_watch&.kill
        path = @config[:restart_file] or return
        @restart_watch = RestartFile.watch(File.expand_path(path, @directory)) { @events.push(:restart) }
      rescue ThreadError => e
        raise StartError, "no room for threads: #{e.message}"
      end
    end
  end
end
