# frozen_string_literal: true

require_relative "../config/supervisor_config"
require_relative "generations/start_of_master"
require_relative "life_line"
require_relative "../log/log"
require_relative "master"
require_relative "process_preparation"
require_relative "../sockets/handshake"
require_relative "../sockets/host_names"
require_relative "../sockets/listeners"
require_relative "../sockets/passed_listeners"
require_relative "../start_error"
require_relative "../start_failure"
require_relative "../sockets/passed_variable"
require_relative "../version"
require_relative "../workers/app_loader"
require_relative "../system/extension"
require_relative "../workers/worker_files"
require_relative "../system/working_directory"

module Bontebok
  # An executed master: the supervisor has executed the server's command again, and this process has read the
  # configuration. It gets the listeners and all other shared descriptors from the supervisor (see StartOfMaster), and
  # becomes a Master.
  class Successor
    # Returns the channel and the handshake. Removes the variable from env, and sets close-on-exec, because commands of
    # the configuration file must not get the descriptors. Raises UsageError.
    def self.inherit(env)
      PassedVariable.read(env, Handshake::VARIABLE, "the descriptors of a supervisor") do |text|
        channel, handshake, = text.b.split(",", -1).map { |number| PassedVariable.descriptor(number) }
        [Channel.inherit(channel), Handshake.inherit(handshake)]
      end
    end

    def initialize(config, channel, handshake)
      @config = config
      @channel = channel
      @handshake = handshake
      @log = Log.new(format: config[:log_format], level: config[:log_level])
      @log.witness = $stderr.dup
    end

    # Returns the exit status. Raises StartError.
    def run
      ProcessPreparation.survive_file_size_limit
      check
      message, descriptors = ask
      @log.generation = message["generation"]
      ProcessPreparation.run(@config, @log) { take_logs(descriptors) }
      WorkerFiles.check_access_log(@config)
      take_links(message, descriptors)
      WorkingDirectory.keep
      @config.warnings.each { |warning| @log.warn(warning) }
      StartFailure.close # from now on, all errors are in the log
      master(message).run
    end

    private

    def check
      Extension.load
      @config.account.check
      @config.at(:rackup) { AppLoader.new(@config[:rackup], @log).check }
      @config.at(:spool_dir) { WorkerFiles.check_spool_dir(@config) }
      WorkerFiles.check_public(@config)
    end

    # Returns the supervisor's message and its descriptors.
    def ask
      @handshake.say({ protocol: StartOfMaster::PROTOCOL, version: VERSION, config: SupervisorConfig.dump(@config),
                       addresses: HostNames.table(@config[:listen]), layouts: Totals.layouts })
      message, descriptors = @handshake.hear
      raise StartError, "the supervisor has ended" unless message
      raise StartError, message["error"] if message["error"]

      [message, descriptors]
    rescue SystemCallError => e
      raise StartError, "cannot ask the supervisor: #{e.message}"
    ensure
      @handshake.close
    end

    # Until now, standard error was a pipe to the supervisor. Until the master is ready, the pipe still gets all
    # warnings and errors, and the supervisor shows them to the user who waits for the deploy.
    def take_logs(descriptors)
      StartFailure.also_tell($stderr.dup)
      LogFiles.take(descriptors.shift(2))
      @log.follow
    end

    # An older supervisor passes no totals. Then this generation counts alone.
    def take_links(message, descriptors)
      @metrics = descriptors.pop(message["metrics"].to_i)
      links = descriptors.shift(message["links"])
      life_line = descriptors.shift(message["life_line"] ? 1 : 0)
      @listeners = Listeners.new(PassedListeners.take(message["listeners"], descriptors),
                                 log: @log, worker_links: worker_links(links, message), stored: message["stored"])
      @listeners.worker_links.totals.count_losses(@log)
      @life_line = LifeLine.inherit(*life_line) if life_line.any? && @shared
    end

    # If the supervisor has another version of Bontebok with another layout of the scoreboard, this master and its
    # workers get links of their own. The supervisor could not find these workers, so it does not adopt them.
    def worker_links(descriptors, message)
      @log.warn("the server's totals do not include this generation") if message["metrics"]&.zero?
      WorkerLinks.attach(descriptors, totals: Totals.attach(@metrics)).tap { @shared = true }
    rescue ArgumentError => e
      @log.warn("the generations share only the listeners: #{e.message}")
      WorkerLinks.open(totals: Totals.attach(@metrics, own: !message["metrics_shared"]))
    end

    def master(message)
      Master.new(@config, @listeners, generation: message["generation"], workers: message["workers"],
                                      channel: @channel, log: @log, life_line: @life_line,
                                      trial: message["trial"], canary: message["canary"])
    end
  end
end
