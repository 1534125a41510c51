# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of puma's directive `plugin`, and of the directives that plugins define.
class ConfigStylesPumaPluginsTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("puma")
  HINT = "did you mean workers?"

  def test_tmp_restart_sets_the_restart_file
    assert_equal "tmp/restart.txt", values("plugin :tmp_restart")[:restart_file]
  end

  def test_solid_queue_runs_jobs_beside_the_workers
    file = read("2.times { plugin :solid_queue }")
    assert_equal [:jobs], file.companions
    assert_empty file.warnings
    assert_empty read("threads 3").companions
    assert_advised "solid_queue_mode", "solid_queue_mode :async",
                   "set the variable SOLID_QUEUE_SUPERVISOR_MODE"
  end

  def test_other_plugins_get_advice
    assert_advised "plugin tailwindcss", "plugin :tailwindcss if true",
                   "run `bin/rails tailwindcss:watch` beside the server"
    assert_advised "plugin yabeda", "plugin :yabeda", "plugins of puma are not loaded"
  end

  def test_a_directive_of_a_plugin_gets_advice
    file = read("plugin 'metrics'\nplugin :metrics\nmetrics_url 'tcp://[::]:9393'\nworkers 2\n" \
                "plugin :yabeda\nwokers(3) { raise }")
    assert_equal 2, file.entries[:max_workers].value
    assert_includes file.warnings, "#{@path}:3: metrics_url has no effect: the plugin metrics is not loaded"
    assert_includes file.warnings,
                    "#{@path}:6: wokers has no effect: the plugins metrics, yabeda are not loaded (#{HINT})"
  end

  def test_without_such_a_plugin_the_directive_is_an_error
    ["", "plugin :tmp_restart\n", "plugin :systemd\n"].each_with_index do |before, index|
      assert_fault ":#{[1, 2, 2][index]}: unknown option wokers (#{HINT})", "#{before}wokers 2"
    end
    assert_fault ":1: unknown option metrics_url", "metrics_url 'tcp://[::]:9393'\nplugin :metrics"
  end

  def test_a_plugin_does_not_hide_a_wrong_word_in_a_hook
    hooks = read("plugin :metrics\non_booted { metrics_url }").hooks
    assert_instance_of NameError, assert_raises(Bontebok::Hooks::Failed) { hooks.run(:on_booted) }.cause
  end
end
