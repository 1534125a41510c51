# frozen_string_literal: true

require_relative "companions/companion"
require_relative "companions/jobs"
require_relative "companions/process_group"

module Bontebok
  # The processes that a master keeps beside its workers: the jobs of Solid Queue, if the configuration wants them
  # (Config#companions). They run while the generation serves: from the word :serving of the supervisor until the master
  # is told to end or to stay loaded without workers. So two generations run them together only while the former one's
  # end. The application must be loaded in the master.
  class Companions
    TITLE = "bontebok jobs"

    # to_close: what belongs to the master and is not named in its ForkGuard.
    def initialize(config, log, to_close: [])
      @config = config
      @log = log
      @to_close = to_close
      @all = []
    end

    # True if no process is left.
    def empty? = @all.all?(&:empty?)

    # The generation serves. The supervisor may say it several times.
    def serve
      @all = @config.companions.filter_map { |name| __send__(name) } if @all.empty?
      @all.each(&:serve)
    end

    # how: a word of the supervisor that ends the workers.
    def stop(how)
      @all.each { |one| one.stop(at_once: how == :quit) }
    end

    def kill
      @all.each(&:kill)
    end

    # The time (Clock) of the next #tick; nil: there is none.
    def deadline = @all.filter_map(&:deadline).min

    def tick
      @all.each(&:tick)
    end

    # Called in a forked process.
    def disown
      @all.each(&:disown)
    end
    alias close disown

    private

    def jobs
      return tell(Jobs::MISSING) unless Jobs.loaded?

      seconds = Jobs.seconds
      Companion.new("jobs", pause: @config.seconds(:err_respawn_interval), seconds: seconds, log: @log) do
        ProcessGroup.fork(TITLE, seconds: seconds, to_close: @to_close) { Jobs.run }
      end
    end

    # Once. Returns nil.
    def tell(fault)
      @log.error(fault) unless @told == fault
      @told = fault
      nil
    end
  end
end
