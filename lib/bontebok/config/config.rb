# frozen_string_literal: true

require_relative "../system/extension"
require_relative "../system/runtime/control_places"
require_relative "../system/working_directory"
require_relative "account"
require_relative "boot_time"
require_relative "faults"
require_relative "machine/cpus"
require_relative "option_table"
require_relative "sources"
require_relative "spool_dir"
require_relative "start_advice"

module Bontebok
  # The effective value of every option, and the source of the value (Sources).
  class Config
    # The least share of a limit that is chosen at random, up to the whole limit. So workers that start together are
    # replaced and collect garbage at different times.
    LEAST = 0.75

    # The Hooks of the configuration file, and texts for the log.
    attr_reader :hooks, :warnings

    # written    { key => [strings] } of the command line
    # given      { key => [strings] } of rackup -O; the configuration file wins over these values, as in Rhebok
    # defaults   { key => effective value }, instead of the table's defaults
    # fixed      like defaults; these values also win over the environment
    # defaults_source  the source of these values, for --check
    # notes      texts for the log
    # faults     the Faults to which this one adds its own, for --check; nil: faults are raised
    # one_process  this build has no workers (Extension)
    def initialize(written = {}, given: {}, defaults: {}, fixed: {}, defaults_source: "default", notes: [], faults: nil,
                   env: ENV, one_process: Extension.one_process?)
      @one_process = one_process
      @faults = faults || Faults.new
      @env = env
      @sources = Sources.new(written, given, env, @faults)
      @sources.take_defaults(defaults, fixed, defaults_source)
      @settings = {}
      @hooks = Hooks.new
      @warnings = notes
      @faults.note { enter_directory }
      @faults.note { read_file } if self[:config_file]
      OptionTable::ALL.each { |option| setting(option) }
      check_socket_owner
      check_request_limits
      note_workers
      @faults.note { account } || @account = Account.new
      choose_spool_dir
      @faults.refuse unless faults
      freeze
    end

    # The effective value. Times are milliseconds, sizes are bytes.
    def [](key)
      setting(OptionTable[key]).value
    end

    def source(key)
      setting(OptionTable[key]).source
    end

    # True if the option has its default only because its value is wrong. Without `faults`, never.
    def wrong?(key)
      source(key) == Sources::WRONG
    end

    # See Sources.
    def chosen?(key) = @sources.chosen?(key)

    # Runs the block, which uses the value of the option. Raises the StartError of the block, with the place in front if
    # the value is in the configuration file.
    def at(key)
      yield
    rescue StartError => e
      raise e unless entry(key)

      raise e.class, "#{source(key)}: #{e.message}"
    end

    # The place of a value of a repeated option; nil: it is not in the file.
    def place_of(value, key = :listen)
      entry = entry(key) or return
      _, place = entry.value.zip(entry.places.to_a).find { |text, _| same?(text, value, key) }
      place || source(key)
    end

    # A time in seconds, as a Float.
    def seconds(key) = self[key].fdiv(1000)

    def boot_seconds = BootTime.of(self)

    # The number of worker processes; for `auto`, the largest that is possible. 0: one process that never forks.
    def workers
      return 0 if @one_process

      @workers ||= self[:max_workers] == :auto ? Cpus.new.count : self[:max_workers]
    end

    # True if the supervisor decides how many workers there are (Supervisor::AutoWorkers).
    def auto_workers? = !@one_process && self[:max_workers] == :auto

    # The processes that a master keeps beside its workers (see Companion): [:jobs] or []. A file for puma has the
    # plugin solid_queue or not, whatever the variable is.
    def companions
      @companions || (@env[StartAdvice::RailsAdvice::VARIABLE].to_s.strip.empty? ? [] : [:jobs])
    end

    # Requests after which a worker is replaced. 0: no limit.
    def request_limit = at_random(self[:max_request_per_child])

    # Requests until a worker's next out-of-band run.
    def requests_per_gc = at_random(self[:max_gc_per_request])

    # Seconds after which a worker is replaced. 0: no limit.
    def age_limit = seconds(:max_worker_age) * rand(LEAST..1.0)

    # The user that the application runs as.
    def account
      @account ||= Account.new(*self[:user].to_s.b.split(":").map { |part| FileName.text(part) })
    rescue Account::Unknown => e
      raise UsageError, "#{source(:user)}: #{e.message}"
    end

    # The control socket is in one of these places if the option `control` is not set and there is no directory tmp.
    def control_places
      user = begin
        account.uid
      rescue UsageError
        nil # a fault of the option `user`
      end
      ControlPlaces.new([WorkingDirectory.name, Dir.pwd], user: user, env: @env)
    end

    # Texts for the log of a start.
    def advice = StartAdvice.new(self, @env).texts

    def development? = self[:environment] == "development"

    # True if a developer uses the server in a terminal.
    def interactive?
      development? || workers.zero?
    end

    # The settings of Core::Worker.
    def core_settings
      texts = %i[spool_dir trusted_proxies access_log access_log_format ready_path live_path]
      settings = (OptionTable.core.map(&:key) + texts).to_h { |key| [key, self[key]] }
      settings.merge(server_name: self[:server], response_buffer: self[:spool_threshold],
                     x_sendfile: self[:x_sendfile].join("\n"), health_paths: self[:health_paths].join(" "),
                     unbuffered_bodies: self[:unbuffered_bodies].join(" "), public: self[:public].join("\n"),
                     public_headers: self[:public_headers].join("\n"))
    end

    # [[name, value as text, source], ...] in the order of the table.
    def report
      OptionTable::ALL.map do |option|
        [option.name, shown(option), source(option.key)]
      end
    end

    private

    def setting(option)
      @settings[option.key] ||= @sources.setting(option, self)
    end

    # The entry of the configuration file, if the value is from there.
    def entry(key)
      entry = @sources.entries[key]
      entry if entry&.place == source(key)
    end

    def same?(text, value, key)
      OptionTable[key].read([text], nil) == [value]
    rescue UsageError
      false
    end

    def at_random(most) = rand((most * LEAST).ceil..most)

    def shown(option)
      value = self[option.key]
      return "none" if value.nil?

      value == :auto ? "auto (at most #{workers})" : option.type.show(value)
    end

    # Enters the Directory of the command line. A relative name of the configuration file begins there.
    def enter_directory
      setting = @sources.on_command_line(OptionTable[:directory]) or return
      WorkingDirectory.enter(setting.value, setting.source)
      @directory = WorkingDirectory.name
    end

    def read_file
      file = @sources.read_file(self[:config_file], self[:config_style]) or return
      @hooks = file.hooks
      @companions = file.companions if self[:config_style] == "puma"
      @warnings += file.warnings
      WorkingDirectory.enter(@directory, source(:directory)) if @directory # the file may have entered another directory
    end

    # Only unix sockets have an owner. A file with both may also be used where the user does not exist.
    def check_socket_owner
      option = OptionTable[:socket_owner]
      return if self[:socket_owner].nil? || self[:listen].none?(&:unix?)

      @faults.note { option.check(self[:socket_owner], source(:socket_owner)) || true } ||
        @settings[:socket_owner] = Sources::Setting.new(option.default, Sources::WRONG)
    end

    def check_request_limits
      return if self[:request_timeout].zero? || self[:request_timeout_soft] < self[:request_timeout]

      @warnings += ["request_timeout_soft is not below request_timeout: its exception comes after the response"]
    end

    # The file may be for the production server, too. So a number of workers is no error here. The number is kept,
    # because the Config is frozen later.
    def note_workers
      workers
      return if !@one_process || [:auto, 0].include?(self[:max_workers])

      @warnings += ["#{source(:max_workers)}: max_workers #{self[:max_workers]} has no effect: on this system, one " \
                    "process serves"]
    end

    def choose_spool_dir
      found, source, text = SpoolDir.instead_of(self[:spool_dir], source(:spool_dir), account)
      return unless found

      @settings[:spool_dir] = Sources::Setting.new(found, source)
      @warnings += [text]
    end
  end
end
