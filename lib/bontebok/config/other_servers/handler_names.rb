# frozen_string_literal: true

require_relative "../option_table"
require_relative "../rhebok_options"
require_relative "../../usage_error"

module Bontebok
  # The options that programs pass to the Rack handlers of puma, WEBrick, thin, falcon and Rhebok, and what they mean
  # here. RackupOptions and ServerConfig use this table.
  module HandlerNames
    # names    as programs write them
    # ours     the name here: one of OWN, or a key of OptionTable; nil: the option has no effect
    # advice   what the log says if the option is set, and not to false, 0 or an empty list; nil: nothing is missing
    # refusal  why the option is an error if it is set
    Row = Struct.new(:names, :ours, :advice, :refusal)

    # Names that OptionTable does not have: the parts of the address, puma's switches, and WEBrick's object.
    OWN = %i[Host Port Path Silent Verbose Logger].freeze

    class << self
      def ours(key, *names)
        Row.new(names, key)
      end

      def nothing(*names, advice: nil, refusal: nil)
        Row.new(names, nil, advice, refusal)
      end
    end

    TABLE = [
      ours(:Host, :Host, :host, :BindAddress),
      ours(:Port, :Port, :port),
      ours(:Path, :Path, :path),
      ours(:Silent, :Silent),
      ours(:Verbose, :Verbose, :log_requests),
      ours(:Logger, :Logger),
      ours(:max_workers, :workers, :Workers, :worker_processes),
      ours(:threads, :max_threads),
      ours(:backlog, :ListenBacklog),
      ours(:keepalive_timeout, :persistent_timeout),
      ours(:header_timeout, :first_data_timeout),
      ours(:max_connections, :max_conns),
      ours(:max_body, :http_content_length_limit),
      # The server works as if these were set, or they are about code that it does not have.
      nothing(:DoNotReverseLookup, :ServerSoftware, :ServerName, :ServerType, :HTTPVersion, :TempDir, :MimeTypes,
              :DirectoryIndex, :DocumentRoot, :DoNotListen, :ShutdownSocketWithoutClose, :events, :queue_requests,
              :min_threads, :preload_app, :wait_for_less_busy_worker, :raise_exception_on_sigterm,
              :drain_on_shutdown, :signals, :threaded, :threadpool_size, :max_persistent_conns),
      nothing(:daemon, advice: "a service manager runs the server in the background"),
      nothing(:MaxClients, advice: "max_connections limits the connections"),
      nothing(:config_files, advice: "config_file names the configuration file"),
      nothing(:lowlevel_error_handler, advice: "the hook on_error of the configuration file does this"),
      nothing(:StartCallback, :StopCallback, :AcceptCallback, :RequestCallback,
              advice: "use the block of the handler, or a hook of the configuration file"),
      nothing(:SSLEnable, :SSLCertificate, :SSLPrivateKey, :SSLCertName, :ssl, :ssl_options,
              refusal: "TLS is left to a proxy"),
      *RhebokOptions::ADVICE.each_value.map { |name, advice| nothing(name.to_sym, advice: advice) }
    ].freeze
    BY_NAME = TABLE.flat_map { |row| row.names.map { |name| [name, row] } }.to_h.freeze

    WEBRICK_LOG = nothing(:AccessLog, advice: "it wants a file, - or syslog, and no list")
    private_class_method :ours, :nothing
    # puma's Verbose, as options of this server.
    VERBOSE = { access_log: "-", access_log_format: "common" }.freeze

    class << self
      # Returns [options, advice]: { name of OWN, key of OptionTable or unknown name => value }, and texts for the log.
      # place: the source of the options, for messages. Raises UsageError. If two names mean one option, the last one
      # counts: rackup passes its defaults first.
      def read(options, place)
        given = {}
        advice = options.reject { |_, value| value.nil? || value == [] }.filter_map do |name, value|
          row = row_of(name, value)
          next without_effect(row, name, value, place) unless row.nil? || row.ours

          given[row&.ours || key_of(name)] = value
          nil
        end
        [given, advice]
      end

      # False for nil, and for a value that turns an option off.
      def on?(value)
        !value.nil? && OptionTypes::Switch::WORDS.fetch(value.to_s.b.downcase, true)
      end

      # The known name that is nearest to an unknown one, or nil. names: of the options.
      def nearest(name, names)
        return unless defined?(DidYouMean)

        DidYouMean::SpellChecker.new(dictionary: names + BY_NAME.keys).correct(name).first
      end

      private

      # In WEBrick, AccessLog is a list of files and formats.
      def row_of(name, value)
        name.to_sym == :AccessLog && value.is_a?(Array) ? WEBRICK_LOG : BY_NAME[name.to_sym]
      end

      # Returns a text for the log, or nil.
      def without_effect(row, name, value, place)
        return unless on?(value)
        raise UsageError, "#{place}: #{name}: #{row.refusal}" if row.refusal

        "#{place}: #{name} has no effect: #{row.advice}" if row.advice
      end

      def key_of(name)
        text = name.to_s
        option = text == RhebokOptions::TIMEOUT.rackup_name ? RhebokOptions::TIMEOUT : OptionTable.find(text)
        option&.key || name.to_sym
      end
    end
  end
end
