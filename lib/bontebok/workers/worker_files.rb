# frozen_string_literal: true

require_relative "../config/spool_dir"
require_relative "../start_error"
require_relative "../system/error_text"
require_relative "../usage_error"

module Bontebok
  # Opens or checks the files of the core's worker. Used by Launcher, Successor, Check and Release after Extension.load.
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

      # Opens the directories of the option public. Returns a Core::Public or nil. Raises UsageError with all faults.
      def open_public(config)
        Core::Public.new(config.core_settings) if config[:public].any?
      rescue ArgumentError => e
        check_public(config)
        raise UsageError, e.message
      end

      # Raises UsageError with a message for each directory that cannot be opened, and for each wrong line of
      # public_headers. account: the user who opens the directories.
      def check_public(config, account = config.account)
        faults = config[:public].filter_map { |name| fault_of(config, account, :public, name) } +
                 config[:public_headers].filter_map { |line| fault_of(config, account, :public_headers, line) }
        raise UsageError.new(*faults) if faults.any?
      end

      private

      # Without a directory, the core would not read the fields.
      def fault_of(config, account, key, value)
        account.act { Core::Public.new({ public: "/", key => value }).close }
      rescue ArgumentError => e
        place = config.place_of(value, key) || config.source(key)
        "#{place}: #{account.described(e.message)}"
      end
    end
  end
end
