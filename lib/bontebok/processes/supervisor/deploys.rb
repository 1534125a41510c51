# frozen_string_literal: true

require_relative "../child"
require_relative "../deploy"
require_relative "../generations"
require_relative "../../system/process_parent"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"
require_relative "configuration"
require_relative "judging"

module Bontebok
  class Supervisor
    # The part of Supervisor that starts masters and deploys new code. The supervisor forks the first master. Each later
    # master is executed (see Deploy). Under rackup, this process has loaded the application, so every master is forked.
    module Deploys
      include Configuration
      include Judging

      REPLACED = "another deploy has replaced this one"
      LOADED = "rackup or `rails server` has loaded the application: restart the server"

      private

      def generations
        Generations.of(@config, @log, ended: method(:note_end_of_master), loaded: method(:open_listeners),
                                      whole: method(:take_effect), failed: method(:fail_deploy),
                                      keep: method(:seconds_to_keep), serves: method(:workers_serve?),
                                      crashed: ->(child) { @deploys[child]&.note_crash },
                                      surge: ->(child) { @deploys[child]&.surge(child, @workers) || 0 },
                                      workers: -> { @workers }) do |number|
          start_master(number)
        end
      end

      def start_master(number)
        @generation += 1
        return fork_master(number) if @generation == 1 || @release

        execute_master(number)
      end

      def fork_master(number)
        fork_child(number) do |channel|
          ExitFence.put if @release
          @log.generation = @generation
          Master.new(@config, @listeners, generation: @generation, workers: @workers, channel: channel, log: @log,
                                          release: @release, life_line: @life_line).run
        end
      end

      # number: of the Child. The clients that have asked for a deploy wait for this master.
      def execute_master(number)
        own_end, master_end = Handshake.pair
        reader, stderr = IO.pipe
        child = fork_child(number, own_end, reader) { |channel| become_master(channel, master_end, stderr) }
        report = DeployReport.new(reader, @waiting_clients.shift(@waiting_clients.size), @log, ordered: @ordered)
        @deploys[child] = Deploy.new(@generation, @config, @listeners, own_end, report, @waiting_canary)
        @waiting_canary = nil
        @ordered = false
        child
      rescue SystemCallError
        [own_end, reader].compact.each(&:close)
        raise
      ensure
        [master_end, stderr].compact.each(&:close)
      end

      def fork_child(number, *to_close, &)
        own = [@events, StartFailure, *@control, *@newcomers, *@life_line, *@deploys.values, *@trial,
               *@listeners.other, *@starting_client]
        Child.fork(number, to_close: [*own, *to_close], &)
      end

      # Runs in the forked process. The user is taken first, so root executes no code of the user.
      def become_master(channel, handshake, stderr)
        $stderr.reopen(stderr)
        variables = @config.account.assume || {}
        inherited = [channel, handshake].map { |one| one.to_io.tap { |io| io.close_on_exec = false }.fileno }
        variables = variables.merge(Handshake::VARIABLE => inherited.join(","))
        QuietSignals.ignore { |names| StartCommand.execute(variables.merge(QuietSignals.variables(names))) }
      rescue SystemCallError, SecurityError => e
        @log.error("the next master cannot be executed", e)
        1
      end

      # Reads the messages and errors of masters that have been executed.
      def answer_masters
        @deploys.each do |child, deploy|
          deploy.read_report
          next unless deploy.asked?

          deploy.answer(pid: child.pid, workers: @workers, former_workers: former_workers, life_line: @life_line,
                        on_trial: @masters.whole?)
          child.workers = deploy.first
        end
      end

      # 1: a superseded generation loses no workers.
      def former_workers
        superseded_serves? ? 1 : @workers
      end

      # Called when a master has loaded the application. Returns whether its listeners listen.
      def open_listeners(child)
        @deploys[child]&.listen
        child.tell(@drains || @drain_delay.begun? ? :announce : :recall)
        true
      rescue StartError => e
        @log.error(e.message)
        false
      end

      # The seconds for which the former master stays loaded when this master replaces it. If an address is closed, the
      # former master does not stay, because it would keep the address. A superseded former master never took effect. It
      # does not stay either.
      def seconds_to_keep(child)
        deploy = @deploys[child] or return 0
        return 0 if superseded_serves?

        (@listeners.to_a - deploy.listeners.to_a).empty? ? deploy.config.seconds(:keep_former) : 0
      end

      def workers_serve?(child)
        serving_workers.any? { |pid| ProcessParent.of(pid) == child.pid }
      end

      # Called when all workers of a master are ready.
      def take_effect(child)
        deploy = @deploys.delete(child) or return take_effect_forked
        former = @listeners
        kept = [@serving_generation, @config, @listeners, @serving_version, @workers]
        @former = kept if @masters.keeps_former_of?(child)
        @serving_generation = deploy.generation
        @serving_version = deploy.version
        @workers = deploy.count(@workers)
        @masters.resize(child, @workers)
        @config = deploy.config
        @listeners = deploy.listeners
        @listeners.take_effect(former)
        deploy.succeed
        configure
        grow_after_deploy(child, deploy)
      end

      def fail_deploy(child, reason)
        deploy = @deploys[child] or return
        point_to_command if deploy.unheard?
        deploy.fail("#{deploy.master} #{reason}", ends: child.deaf? && !child.ended?)
      end

      # A signal and a touched file give no answer.
      def point_to_command
        @log.info("`bontebok deploy --wait --control #{@control.path}` also prints the error") if @control
      end

      # Without the deploys whose masters only finish requests.
      def deploys_under_way
        @deploys.reject { |child, _| child.leaving? }.values
      end

      # True if the former generation has never taken effect: the present master has died, and another deploy has
      # superseded the next one, which serves alone.
      def superseded_serves?
        deploys_under_way.size > 1
      end

      def note_end_of_master(child)
        @deploys.delete(child)&.then { |deploy| deploy.discard("#{deploy.master} has ended: #{child.ending}") }
        @adopted.take
      end

      def deploy(reason)
        @service.reload
        return @log.info("#{reason}: the server stops already") if @stopping || @departure
        return @log.info("#{reason}: the server still starts") if @steps.any?
        return @log.error("#{reason}: #{LOADED}") if @release

        @log.info("#{reason}: a new master is executed")
        @masters.release if @config[:deploy_surge].positive? # to save memory
        @masters.renew
        @deploys.each_value { |deploy| deploy.supersede(REPLACED) }
        @deploys.each { |child, deploy| deploy.fail(REPLACED) if child.leaving? }
        drop_order(REPLACED)
        @ordered = true
      end

      def discard_deploys(reason)
        @deploys.each_value { |deploy| deploy.discard(reason) }
        drop_order(reason)
      end

      # Ends a deploy whose master is not forked yet.
      def drop_order(reason)
        @waiting_clients.each { |client| client.finish(1, reason) }.clear
        @waiting_canary = nil
      end
    end
  end
end
