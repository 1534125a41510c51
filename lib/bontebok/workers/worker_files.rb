# frozen_string_literal: true

require_relative "../config/spool_dir"
require_relative "../start_error"
require_relative "../system/error_text"
require_relative "../usage_error"

module Bontebok
  # Checks the files that the core's worker opens later. Used by Launcher and ServerRun at the start. Both require the
  # binding before (Extension).
  module WorkerFiles
    class << self
      # Raises StartError.
      def check_spool_dir(config)
        fault = SpoolDir.fault(config[:spool_dir]) or return
        name = SpoolDir::NAMES[config.source(:spool_dir)]
        advice = ". Set spool_dir to another directory" if name
        raise StartError, "#{name || 'spool_dir'} #{config[:spool_dir]} cannot be written to: #{fault}#{advice}"
      end

      # Without this check, a worker would fail to open the access log when the application is loaded. changes: values
      # in place of the configuration's. Raises UsageError or StartError.
      def check_access_log(config, **changes)
        Core::Worker.check_access_log(config.core_settings.merge(changes))
      rescue ArgumentError => e
        key = e.message.start_with?("format:") ? :access_log_format : :access_log
        config.at(key) { raise UsageError, "access log: #{e.message}" }
      rescue SystemCallError => e
        text = ErrorText.of(e, config[:access_log])
        config.at(:access_log) { raise StartError, "access_log #{config[:access_log]}: #{text}" }
      end
    end
  end
end
