# frozen_string_literal: true

require_relative "child"
require_relative "deploy"
require_relative "../system/start_command"

module Bontebok
  # The part of Supervisor that starts masters and deploys new code. The supervisor forks the first master. Each later
  # master is executed (see Deploy). Under rackup, this process has loaded the application, so every master is forked.
  module Deploys
    private

    def start_master(number)
      @generation += 1
      return fork_master(number) if @generation == 1 || @app

      execute_master(number)
    end

    def fork_master(number)
      fork_child(number) do |channel|
        ExitFence.put if @app
        @log.generation = @generation
        Master.new(@config, @listeners, generation: @generation, workers: @workers, channel: channel, log: @log,
                                        app: @app, life_line: @life_line).run
      end
    end

    def execute_master(number)
      own_end, master_end = Handshake.pair
      child = fork_child(number, own_end) { |channel| become_master(channel, master_end) }
      master_end.close
      @deploys[child] = Deploy.new(@generation, @config, @listeners, own_end)
      child
    rescue SystemCallError
      [own_end, master_end].compact.each(&:close)
      raise
    end

    def fork_child(number, *to_close, &)
      Child.fork(number, to_close: [@events, StartFailure, *@life_line, *@deploys.values, *to_close], &)
    end

    # Runs in the forked process. The user is taken first, so root executes no code of the user.
    def become_master(channel, handshake)
      variables = @config.account.assume || {}
      inherited = [channel, handshake].map { |one| one.to_io.tap { |io| io.close_on_exec = false }.fileno }
      StartCommand.execute(variables.merge(Handshake::VARIABLE => inherited.join(",")))
    rescue SystemCallError, SecurityError => e
      @log.error("the next master cannot be executed", e)
      1
    end

    # Messages of masters that have been executed.
    def answer_masters
      @deploys.each_value.reject(&:answered?).select { |deploy| deploy.to_io.wait_readable(0) }.each do |deploy|
        deploy.answer(workers: @workers, life_line: @life_line)
      end
    end

    # Called when a master has loaded the application. Returns whether its listeners listen.
    def open_listeners(child)
      @deploys[child]&.listeners&.listen
      true
    rescue StartError => e
      @log.error(e.message)
      false
    end

    # Called when all workers of a master are ready.
    def take_effect(child)
      deploy = @deploys.delete(child) or return
      former = @listeners
      @workers = deploy.count(@workers)
      @config = deploy.config
      @listeners = deploy.listeners
      @listeners.take_effect(former)
      configure
    end

    # The rest of the supervisor follows the new configuration.
    def configure
      WorkingDirectory.enter_again(@log)
      @log.configure(format: @config[:log_format], level: @config[:log_level])
      LogFiles.renew(@config, @log)
      @masters.configure(@config)
      @adopted.configure(@config)
      watch_restart_file
    end

    def note_end_of_master(child)
      @deploys.delete(child)&.discard
      @adopted.take
    end

    def deploy(reason)
      return if @stopping
      return @log.error("#{reason}: the application was loaded by rackup, so only a restart deploys") if @app

      @log.info("#{reason}: a new master is executed")
      @masters.renew
    end
  end
end
