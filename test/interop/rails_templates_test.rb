# frozen_string_literal: true

require "json"
require "test_helper"
require "yaml"
require_relative "support/rails8/rails_templates"

# The files that Rails 8 generates, with this server: config/puma.rb, Dockerfile, bin/docker-entrypoint,
# config/deploy.yml. docs/RAILS.md has the commands that change them. rails_server_test.rb runs the line of
# Procfile.dev.
class RailsTemplatesTest < Support::TestCase
  DOCUMENT = File.expand_path("../../docs/RAILS.md", __dir__)
  SED = /^```\n((?:sed .*\n)+)```/
  WITHOUT_THRUSTER = /^```\n(sed .*thrust.*\n)```/
  COPY_OF_SOURCE = /^git -C .* archive .*\n((?:sed .*\n)+)/
  SERVERS = /^```yaml\n(servers:\n.*?)^```/m
  APP = "run ->(_) { [200, {}, [ENV.fetch('RACK_ENV')]] }\n"

  # Kamal passes the variables of deploy.yml to the container. The application has no jobs.
  def test_the_file_for_puma_with_the_variables_of_kamal
    variables = deploy.dig("env", "clear").transform_values(&:to_s)
    assert_equal({ "SOLID_QUEUE_IN_PUMA" => "true" }, variables)
    temp_file("config/puma.rb", Interop::RailsTemplates.read("config/puma.rb.tt"))
    [["-c", "config/puma.rb"], []].each do |args|
      server = start(*args, env: variables)
      assert_equal "production", server.get.body
      server.wait_for_output(/ error .* no jobs run: the application has not loaded solid_queue/)
    end
  end

  def test_the_file_for_puma_without_the_variable_has_no_advice
    FileUtils.mkdir("#{temp_dir}/tmp") # for the plugin tmp_restart
    text = temp_text("config/puma.rb", Interop::RailsTemplates.read("config/puma.rb.tt"))
    assert_includes text, "plugin :solid_queue"
    server = start("-c", "config/puma.rb")
    assert_match(/production: 1 worker of 3 threads$/, server.output.text)
    refute_match(/ (?:warn|error) /, server.output.text)
  end

  # The entrypoint prepares the database, and executes the command.
  def test_the_dockerfile_and_its_entrypoint_after_the_commands_of_the_page
    { [] => %w[./bin/thrust], [:thruster] => [] }.each do |without, before|
      assert_equal [*before, "./bin/rails", "server"], command_of_image(without)
      assert_equal "prepared\n", entered(*before, "./bin/rails", "server").lines.first
      run_command("sh", "-ec", File.read(DOCUMENT)[SED, 1])
      command = JSON.parse(File.read("#{temp_dir}/Dockerfile")[/^CMD (.*)$/, 1])
      assert_equal [*before, "bundle", "exec", "bontebok", "-p", "3000"], command
      assert_equal ["prepared\n", "#{command.drop(1).join(' ')}\n"], entered(*command).lines
    end
  end

  def test_the_dockerfile_after_the_command_that_removes_thruster
    command_of_image([])
    [SED, WITHOUT_THRUSTER].each { |commands| run_command("sh", "-ec", File.read(DOCUMENT)[commands, 1]) }
    assert_equal ["EXPOSE 3000", 'CMD ["bundle", "exec", "bontebok", "-p", "3000"]'],
                 File.readlines("#{temp_dir}/Dockerfile", chomp: true).grep(/^(?:EXPOSE|CMD) /)
  end

  # `bundle install` needs the copy. The last COPY would replace the built extension, so the build comes after it. The
  # task for the assets loads the application.
  def test_the_image_builds_the_copy_of_the_source
    temp_file("Dockerfile", Interop::RailsTemplates.read("Dockerfile.tt"))
    run_command("sh", "-ec", File.read(DOCUMENT)[COPY_OF_SOURCE, 1])
    lines = File.readlines("#{temp_dir}/Dockerfile", chomp: true)
    steps = ["COPY vendor/bontebok ./vendor/bontebok", "RUN bundle install && \\", "COPY . .",
             "RUN vendor/bontebok/bin/setup --build", "RUN SECRET_KEY_BASE_DUMMY=1 ./bin/rails assets:precompile"]
    assert_equal steps, lines & steps
  end

  # The generated file has the role as a comment.
  def test_the_role_of_the_jobs
    role = Interop::RailsTemplates.read("config/deploy.yml.tt").gsub(/^  # (?=job:|  hosts:|    - |  cmd:)/, "  ")
    servers = YAML.safe_load(role).fetch("servers")
    assert_equal "bin/jobs", servers.dig("job", "cmd")
    documented = YAML.safe_load(File.read(DOCUMENT)[SERVERS, 1].sub("./bin/", "bin/"))
    assert_equal documented.fetch("servers"), servers
  end

  private

  def start(*args, env: {})
    server = start_bontebok(ready: false, listen: nil, rackup: APP, args: ["-E", "production", *args],
                            env: { "PORT" => "0" }.merge(env))
    server.wait_until_ready
    server
  end

  def deploy
    YAML.safe_load(Interop::RailsTemplates.read("config/deploy.yml.tt"))
  end

  def temp_text(name, text)
    File.read(temp_file(name, text))
  end

  # Writes the files of the image, and programs in place of Rails, Thruster and Bundler. Returns the image's command.
  def command_of_image(without)
    temp_file("bin/docker-entrypoint", Interop::RailsTemplates.read("docker-entrypoint.tt", without: without))
    temp_file("bin/rails", "#!/bin/sh\n[ \"$1\" = db:prepare ] && echo prepared || :\n")
    %w[bin/thrust bundle].each { |name| temp_file(name, "#!/bin/sh\necho \"$@\"\n") }
    %w[bin/rails bin/thrust bundle].each { |name| File.chmod(0o755, "#{temp_dir}/#{name}") }
    text = temp_text("Dockerfile", Interop::RailsTemplates.read("Dockerfile.tt", without: without))
    JSON.parse(text[/^CMD (.*)$/, 1])
  end

  def entered(*command)
    run_command("bash", "bin/docker-entrypoint", *command)
  end

  def run_command(*command)
    child = Support::ChildProcess.run(*command, chdir: temp_dir, env: { "PATH" => "#{temp_dir}:#{ENV.fetch('PATH')}" })
    assert_predicate child.status, :success?, child.output.text
    child.output.text(:stdout)
  end
end
