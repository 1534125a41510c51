# frozen_string_literal: true

require_relative "address"
require_relative "boot_time"
require_relative "option_table"
require_relative "../start_error"
require_relative "../system/file_name"
require_relative "../system/working_directory"

module Bontebok
  # The part of a Config that the supervisor uses. After a deploy, the next master reads the configuration, and sends
  # this part to the supervisor. So the supervisor runs no configuration file, which may belong to another user. The
  # user of the server does not change (option `user`).
  class SupervisorConfig
    VALUES = %i[backlog reuse_port socket_mode socket_owner log stdout access_log log_format log_level control
                restart_file signal_hup err_respawn_interval graceful_timeout hijack_timeout worker_timeout
                worker_boot_timeout preload drain_delay keep_former deploy_surge threads tag max_queue
                queue_timeout].freeze
    PATHS = %i[log stdout restart_file].freeze
    TEXTS = %i[log stdout access_log log_format log_level control restart_file signal_hup socket_owner tag].freeze
    SWITCHES = %i[reuse_port preload].freeze
    CHOICES = %i[listen backlog].freeze

    attr_reader :workers, :account

    class << self
      # Returns a Hash with values of JSON. Relative paths begin in the working directory, which may be a link: the link
      # can lead to another directory when a path is used again. Raises StartError.
      def dump(config)
        values = VALUES.to_h { |key| [key, config[key]] }
        PATHS.each { |key| values[key] &&= FileName.absolute(values[key], WorkingDirectory.name) }
        values[:tag] = String.new(values[:tag], encoding: Encoding::UTF_8).scrub if values[:tag] # only shown
        listen = config[:listen].map(&:to_s)
        check_encoding(values.merge(listen: listen.join))
        { workers: config.workers, auto: config.auto_workers?, interactive: config.interactive?,
          chosen: CHOICES.select { |key| config.chosen?(key) }, listen: listen, values: values }
      end

      private

      # JSON has no other text than UTF-8, but a file can have any name.
      def check_encoding(values)
        texts = values.select { |_, value| value.is_a?(String) }
        key, = texts.find { |_, text| !text.dup.force_encoding(Encoding::UTF_8).valid_encoding? }
        raise StartError, "#{OptionTable[key].name} is not in UTF-8, so only a restart deploys" if key
      end
    end

    # data: the result of .dump, after JSON. former: the Config or SupervisorConfig that this one replaces. Its values
    # count where another version of Bontebok has sent none. Raises OptionTypes::Invalid, KeyError or TypeError.
    def initialize(data, former)
      @workers = Integer(data.fetch("workers"))
      @auto = data.fetch("auto") { former.auto_workers? && former.workers == @workers } == true
      @account = former.account
      @interactive = data["interactive"] == true
      @chosen = data.fetch("chosen").map(&:to_sym)
      values = data.fetch("values")
      @values = VALUES.to_h { |key| [key, checked(key, values.fetch(key.to_s) { former[key] })] }
      @values[:listen] = data.fetch("listen").map { |text| Address.restore(text) }
      freeze
    end

    def [](key)
      @values.fetch(key)
    end

    def seconds(key)
      self[key].fdiv(1000)
    end

    def boot_seconds = BootTime.of(self)

    # The supervisor does not know the file.
    def place_of(_address)
      nil
    end

    # See Config.
    def auto_workers?
      @auto
    end

    def interactive?
      @interactive
    end

    def chosen?(key)
      @chosen.include?(key)
    end

    private

    # Another version of Bontebok may have other types, and the supervisor must not fail later.
    def checked(key, value)
      good = if TEXTS.include?(key) then value.nil? || value.is_a?(String)
             else SWITCHES.include?(key) || value.is_a?(Integer)
             end
      good ? value : raise(TypeError, "the new master sends #{key}: #{value.inspect}")
    end
  end
end
