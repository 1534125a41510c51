# frozen_string_literal: true

# The Rails application of bench/deploy, in one file. Loading takes at least BENCH_BOOT seconds of processor time.
require "action_controller/railtie"
require "action_mailer/railtie"
require "active_job/railtie"

class DeployBench < Rails::Application
  config.load_defaults 7.2
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.logger = ActiveSupport::Logger.new($stderr) # no file in the working directory
  config.log_level = :warn
  routes.append { root to: "deploy_bench/pages#show" }

  class PagesController < ActionController::Base
    def show = render(plain: "x" * 200)
  end
end

Rails.application.initialize!
nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < Float(ENV.fetch("BENCH_BOOT"))
run Rails.application
